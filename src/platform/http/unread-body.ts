import type { IncomingMessage, ServerResponse } from 'node:http';

/** A rest this small is read and thrown away, and the connection stays: cheaper than a new connection. */
const KEPT_CONNECTION_BYTES_MAX = 64 * 1024;
/** Three of the largest bodies any route takes: a client that sends more than that is not waiting for an answer. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;
/** Time for a client to notice the answer and stop sending, and for the answer to cross a slow line. */
const LINGER_MS = 5_000;

/**
 * Ends an answer that was decided before the request's body was read to its end, a refusal that is.
 *
 * Closing at once would throw away bytes that are still arriving, and TCP then sends a reset, which can overtake the answer:
 * the client would see a broken connection instead of its 401 or 413. So the whole answer is sent first, with
 * `Connection: close`, and the rest of the body is read and forgotten for a bounded time and size before the close.
 */
export function endBeforeBody(request: IncomingMessage, response: ServerResponse, text: string): void {
  if (unreadBytesMax(request) <= KEPT_CONNECTION_BYTES_MAX) {
    // Node discards an untouched body by itself, but not one that somebody began to read.
    request.resume();
    response.end(text);
    return;
  }
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.write(text);
  discardRest(request, () => response.end());
}

function unreadBytesMax(request: IncomingMessage): number {
  if (request.complete) return 0;
  if (request.headers['transfer-encoding'] !== undefined) return Infinity;
  return Number(request.headers['content-length'] ?? 0);
}

function discardRest(request: IncomingMessage, done: () => void): void {
  let bytes = 0;
  const finish = (): void => {
    clearTimeout(timer);
    request.off('data', count).off('end', finish).off('close', finish);
    done();
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES_MAX) finish();
  };
  const timer = setTimeout(finish, LINGER_MS);
  request.on('data', count).once('end', finish).once('close', finish);
  request.resume();
}
