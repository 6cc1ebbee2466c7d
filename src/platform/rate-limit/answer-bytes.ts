import type { ServerResponse } from 'node:http';

type Send = (...args: unknown[]) => unknown;

/** Tells `count` how many bytes of an answer's body are about to go out; the head may still be unsent by then. */
export function countAnswerBytes(response: ServerResponse, count: (bytes: number) => void): void {
  const counting = (send: Send): Send => {
    return (...args) => {
      const bytes = bytesOf(args[0], args[1]);
      if (bytes > 0) count(bytes);
      return send(...args);
    };
  };
  response.write = counting(response.write.bind(response) as Send) as ServerResponse['write'];
  response.end = counting(response.end.bind(response) as Send) as ServerResponse['end'];
}

function bytesOf(chunk: unknown, encoding: unknown): number {
  if (chunk instanceof Uint8Array) return chunk.byteLength;
  if (typeof chunk !== 'string') return 0;
  return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
}
