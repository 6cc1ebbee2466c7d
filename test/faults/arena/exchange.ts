import { Agent, request } from 'node:http';

/** What a client hears. */
export interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: any;
  readonly tookMs: number;
}

/** Longer than any answer may take, whatever is wrong behind the service. */
export const HUNG_MS = 12_000;

/** The service neither answered nor broke off. */
export class HungError extends Error {}

/** Connections that are kept, as those of clients are. */
export const AGENT = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request; undefined when the connection was lost before there was a whole answer. Throws `HungError`. */
export function exchange(
  port: number,
  { method = 'POST', path, key, body }: { method?: string; path: string; key: string; body?: unknown },
): Promise<Reply | undefined> {
  const sentAt = performance.now();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const lost = (): void => {
      resolve(undefined);
    };
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: AGENT }, (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('error', lost).on('aborted', lost);
      incoming.on('end', () => {
        clearTimeout(timer);
        const { statusCode: status = 0, headers: told, complete } = incoming;
        if (!complete) {
          lost();
          return;
        }
        const answer = Buffer.concat(parts).toString();
        resolve({
          status,
          headers: told,
          tookMs: performance.now() - sentAt,
          body: answer === '' ? undefined : JSON.parse(answer),
        });
      });
    });
    const timer = setTimeout(() => {
      reject(new HungError(`${method} ${path} was neither answered nor broken off within ${HUNG_MS} ms`));
      outgoing.destroy();
    }, HUNG_MS);
    outgoing.on('error', () => {
      clearTimeout(timer);
      lost();
    });
    outgoing.on('close', () => clearTimeout(timer));
    outgoing.end(text);
  });
}
