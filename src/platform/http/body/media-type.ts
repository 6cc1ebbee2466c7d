const PARAMETER = /;\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;

/**
 * Whether a `Content-Type` says JSON in UTF-8: `application/json` in any case, with any parameters, of which every `charset`
 * is `utf-8`. (RFC 8259 knows no other encoding, and no such parameter, but clients send it.)
 */
export function isUtf8Json(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const typeEnd = contentType.indexOf(';');
  const type = typeEnd === -1 ? contentType : contentType.slice(0, typeEnd);
  if (type.trim().toLowerCase() !== 'application/json') return false;
  return typeEnd === -1 || charsetsOf(contentType.slice(typeEnd)).every((charset) => /^(utf-8)?$/i.test(charset));
}

function charsetsOf(parameters: string): string[] {
  return [...parameters.matchAll(PARAMETER)]
    .filter(([, name]) => name?.toLowerCase() === 'charset')
    .map(([, , value = '']) => unquoted(value.trim()));
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}
