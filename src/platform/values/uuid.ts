import { MAX, NIL } from 'uuid';

/** The first and the last UUID (RFC 9562, sections 5.9 and 5.10). Every stored id sorts between them. */
export const NIL_UUID = NIL;
export const MAX_UUID = MAX;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID. PostgreSQL answers any other text in an id column with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
