import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TimeSlice } from '../values/time-slice';
import { isErrno } from '../errors/error-summary';
import { jsonTextOf } from '../values/json/json-text-of';
import { ClientGone } from '../errors/client-gone';

export const NDJSON_MEDIA_TYPE = 'application/x-ndjson';
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

/**
 * Answers with one JSON text per line, as fast as the client reads. An error before the first line is thrown. A later one
 * closes the connection, so that clients do not take a part for the whole. Throws `ClientGone` when the client aborts.
 */
export async function sendNdjson(response: ServerResponse, records: AsyncIterable<object>): Promise<void> {
  const iterator = records[Symbol.asyncIterator]();
  const first = await iterator.next();
  await sendPieces(response, NDJSON_MEDIA_TYPE, lines(first, iterator));
}

/** Answers with pieces of text, as fast as the client reads. Throws `ClientGone` when the client aborts. */
export async function sendPieces(
  response: ServerResponse,
  mediaType: string,
  pieces: AsyncIterable<string>,
): Promise<void> {
  response.setHeader('Content-Type', mediaType);
  try {
    await pipeline(Readable.from(pieces), response);
  } catch (error) {
    throw isErrno(error, 'ERR_STREAM_PREMATURE_CLOSE') ? new ClientGone() : error;
  }
}

async function* lines(first: IteratorResult<object>, rest: AsyncIterator<object>): AsyncGenerator<string> {
  const slice = new TimeSlice();
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      yield `${jsonTextOf(next.value)}\n`;
      // Lines of a page that was read already, and fast clients, need no waiting.
      await slice.pause();
    }
  } finally {
    await rest.return?.();
  }
}
