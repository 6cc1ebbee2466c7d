import { runInNewContext } from 'node:vm';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient } from '../support/client';
import { startStrippingProxy, type HttpProxy } from '../support/http-proxy';

let service: TestApp;
let proxy: HttpProxy;

beforeAll(async () => {
  service = await startApp();
  proxy = await startStrippingProxy(service.url, '/data');
});

afterAll(async () => {
  await proxy.close();
  await service.stop();
});

/** Where requests of a document go to that was read at an address (OpenAPI 3.0: a server's URL may be relative to it). */
function serverOf(document: any, address: string): string {
  return new URL(document.servers[0].url, address).href.replace(/\/$/, '');
}

/** What the page's own script sets Swagger UI up with. */
async function optionsOfPage(address: string): Promise<any> {
  const script = await (await fetch(address)).text();
  const found: { options?: any } = {};
  const SwaggerUIBundle = Object.assign((options: any) => ((found.options = options), { initOAuth: () => undefined }), {
    presets: {},
    plugins: {},
  });
  const window: any = { location: { search: '' } };
  runInNewContext(script, { window, SwaggerUIBundle, SwaggerUIStandalonePreset: {} });
  window.onload();
  return found.options;
}

describe('behind a proxy that takes a path of its own away', () => {
  it('the document leads its readers to the path of the proxy', async () => {
    const address = `${proxy.url}/docs-json`;
    const document = await (await fetch(address)).json();
    expect(serverOf(document, address)).toBe(proxy.url);
    expect(serverOf(document, `${service.url}/docs-json`)).toBe(service.url);
    const { key } = await aClient(service);
    const answer = await fetch(`${serverOf(document, address)}/v1/external-events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(anExternalEvent()),
    });
    expect(answer.status).toBe(202);
    expect(proxy.seen.at(-1)).toBe('POST /data/v1/external-events');
  });

  it.each(['/', '/docs', '/docs/', '/docs/?a=/b/'])(
    'the page that %s leads to loads its files and calls below that path',
    async (path) => {
      const page = await fetch(`${proxy.url}${path}`);
      expect([page.status, page.url]).toEqual([200, `${proxy.url}/docs`]);
      const files = [...(await page.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => file);
      expect(files.length).toBeGreaterThan(4);
      for (const file of files) expect([file, (await fetch(new URL(file, page.url))).status]).toEqual([file, 200]);
      const { swaggerDoc, spec = swaggerDoc } = await optionsOfPage(new URL('docs/swagger-ui-init.js', page.url).href);
      // Swagger UI takes the page's own address for that of a document that came with the page.
      expect(serverOf(spec, page.url)).toBe(proxy.url);
    },
  );
});

it('the page keeps the credential over a reload', async () => {
  expect(await optionsOfPage(`${service.url}/docs/swagger-ui-init.js`)).toMatchObject({ persistAuthorization: true });
});
