const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether text can be asked for as an id; PostgreSQL answers other text with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
