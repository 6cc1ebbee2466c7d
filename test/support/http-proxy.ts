import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpProxy {
  /** With the path of its own, if it has one, and without a slash at its end. */
  readonly url: string;
  /** What the proxy notes of each request, in their order. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/** What becomes of a request: without a target it is answered 404. */
interface Route {
  readonly noted: string;
  readonly target: URL | undefined;
}

/** A reverse proxy, which changes neither headers nor answers. `routeOf` gets the number of requests before. */
export async function startHttpProxy(
  routeOf: (incoming: IncomingMessage, before: number) => Route,
  ownPath = '',
): Promise<HttpProxy> {
  const seen: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { noted, target } = routeOf(incoming, seen.length);
    seen.push(noted);
    if (target === undefined) {
      outgoing.writeHead(404).end('Not below the path of the proxy');
      return;
    }
    const { method, headers } = incoming;
    const passed = request(target, { method, headers }, (answer) => {
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
    url: `http://127.0.0.1:${port}${ownPath}`,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/**
 * Serves a service below a path of its own, and takes that path away before it passes a request on, as nginx does with
 * `location /data/ { proxy_pass http://service/; }`. Notes method and path as it has got them.
 */
export function startStrippingProxy(serviceUrl: string, prefix: string): Promise<HttpProxy> {
  return startHttpProxy(({ method, url: path = '' }) => {
    const target = path.startsWith(`${prefix}/`) ? new URL(path.slice(prefix.length), serviceUrl) : undefined;
    return { noted: `${method} ${path}`, target };
  }, prefix);
}

/**
 * A load balancer without memory: each request goes to the next one of the services. Notes the number of the service that has got
 * it, method and path: `0 GET /console/api/session`.
 */
export function startAlternatingProxy(serviceUrls: readonly string[]): Promise<HttpProxy> {
  return startHttpProxy(({ method, url: path = '' }, before) => {
    const turn = before % serviceUrls.length;
    return { noted: `${turn} ${method} ${path.replace(/\?.*/, '')}`, target: new URL(path, serviceUrls[turn]) };
  });
}
