import type { ServiceRequest } from './service-request';

/** Half of the second within which an ended credential is refused everywhere. */
const CHECK_MS = 500;

/**
 * The items of a streamed answer, as long as the credential of its request is valid. The reader decides how long an answer
 * takes: without this, it could read on for hours behind a revocation, also what is stored meanwhile. Throws what the check of
 * the credential throws.
 */
export async function* whileAdmitted<Item>(
  request: ServiceRequest,
  items: AsyncIterable<Item>,
): AsyncGenerator<Item, void, undefined> {
  let checkedAt = performance.now();
  for await (const item of items) {
    if (performance.now() - checkedAt >= CHECK_MS) {
      await request.checkCredential?.();
      checkedAt = performance.now();
    }
    yield item;
  }
}
