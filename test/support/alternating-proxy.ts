import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AlternatingProxy {
  readonly url: string;
  /** Each request with the number of the service that has got it, in their order: `0 GET /console/api/session`. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/** A load balancer without memory: each request goes to the next one of the services. It changes no header. */
export async function startAlternatingProxy(serviceUrls: readonly string[]): Promise<AlternatingProxy> {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url: path = '' } = incoming;
    const turn = seen.length % serviceUrls.length;
    seen.push(`${turn} ${method} ${path.replace(/\?.*/, '')}`);
    const passed = request(new URL(path, serviceUrls[turn]), { method, headers }, (answer) => {
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
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
