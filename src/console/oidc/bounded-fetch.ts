import type { CustomFetchOptions } from 'openid-client';

/** Of an answer, unpacked. Tokens and a person with a thousand groups take less, and it is parsed at once. */
const ANSWER_BYTES_MAX = 512 * 1024;

/** As `fetch`. An answer of more than 512 KiB fails while its body is read, and is not read on. */
export async function boundedFetch(
  address: string,
  { body = null, ...request }: CustomFetchOptions,
): Promise<Response> {
  const answer = await fetch(address, { ...request, body });
  if (answer.body === null) return answer;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= ANSWER_BYTES_MAX) controller.enqueue(chunk);
      else controller.error(new Error(`The answer has more than ${ANSWER_BYTES_MAX} bytes.`));
    },
  });
  return new Response(answer.body.pipeThrough(limit), answer);
}
