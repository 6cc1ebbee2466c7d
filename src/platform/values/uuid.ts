/** The first and the last of all UUIDs (RFC 9562, sections 5.9 and 5.10): before and behind every id that is stored. */
export { MAX as MAX_UUID, NIL as NIL_UUID } from 'uuid';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether text can be asked for as an id; PostgreSQL answers other text with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
