import type { IncomingMessage, ServerResponse } from 'node:http';

/** A rest of at most this size is read and dropped, and the connection stays open: cheaper than a new one. */
const KEPT_CONNECTION_BYTES_MAX = 64 * 1024;
/** Three times the largest body of any route. A client that sends more does not wait for an answer. */
const DISCARDED_BYTES_MAX = 16 * 1024 * 1024;
/** Time for the answer to cross a slow line, and for the client to stop sending. */
const LINGER_MS = 5_000;

/**
 * Sends a refusal that was decided before the body of the request was read completely.
 *
 * Closing at once would drop bytes that still arrive. TCP then sends a reset, which can overtake the answer: the client would
 * see a broken connection instead of its 401 or 413. So the answer is sent first, with `Connection: close`, and the rest of
 * the body is read and dropped for a bounded time and size before the close.
 */
export function endBeforeBody(request: IncomingMessage, response: ServerResponse, text: string): void {
  if (unreadBytesMax(request) <= KEPT_CONNECTION_BYTES_MAX) {
    // Node discards an unread body itself, but not a partly read one.
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
