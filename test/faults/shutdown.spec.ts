import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { startServiceProcess } from '../support/service-process';

/** Processes of this machine that have the text in their command line. */
async function processesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const folder = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (commandLine.includes(text) || folder.includes(text)) found.push(commandLine.replaceAll('\0', ' '));
  }
  return found;
}

describe('SIGTERM', () => {
  it('lets a request under way be answered, refuses new ones, and ends with 0 within 10 s', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cds-stop-'));
    const service = await startServiceProcess({ DATA_DIR: dataDir });
    const { port } = new URL(service.url);
    // A kept-alive connection that is idle must not hold the service back.
    await new Client(service.url, service.adminKey).get('/v1/events');
    const body = JSON.stringify(anExternalEvent());
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/external-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.adminKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
    );
    // The credential was checked and the body is being waited for once another request has been answered meanwhile.
    await new Client(service.url, service.adminKey).get('/v1/events');
    const asked = performance.now();
    const stopped = service.stop();
    await untilRefused(Number(port));
    socket.write(body.slice(20));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 202 /);
    socket.destroy();
    expect(await stopped).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000);
    expect(await processesWith(dataDir)).toEqual([]);
    await rm(dataDir, { recursive: true, force: true });
  });
});

async function untilRefused(port: number): Promise<void> {
  for (const until = Date.now() + 5_000; Date.now() < until;) {
    const socket = connect(port, '127.0.0.1');
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.destroy();
    if (refused) return;
    await new Promise(setImmediate);
  }
  throw new Error('The service still takes connections');
}
