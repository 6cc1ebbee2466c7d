import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StrippingProxy {
  /** With the path of its own, without a slash at its end. */
  readonly url: string;
  /** Method and path of each request as the proxy has got it, in their order. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/**
 * A reverse proxy that serves a service below a path of its own, and takes that path away before it passes a request on, as
 * nginx does with `location /data/ { proxy_pass http://service/; }`. It sets no header, and changes no answer.
 */
export async function startStrippingProxy(serviceUrl: string, prefix: string): Promise<StrippingProxy> {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '';
    seen.push(`${incoming.method} ${path}`);
    if (!path.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end('Not below the path of the proxy');
      return;
    }
    const { method, headers } = incoming;
    const passed = request(new URL(path.slice(prefix.length), serviceUrl), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
