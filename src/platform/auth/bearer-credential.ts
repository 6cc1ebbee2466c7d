/** One space, as RFC 6750 has it and the strategies read it. */
const BEARER = /^Bearer ([^\s]+)$/i;
/** Three dot-separated parts, the first a base64url JSON object. */
const JWT = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;

/** The credential of an Authorization header of the Bearer scheme; undefined for any other header. */
export function bearerCredential(header: string): string | undefined {
  return BEARER.exec(header)?.[1];
}

/** Whether it is written like a JWT, by its beginning and its parts alone; nothing of it is verified. */
export function looksLikeJwt(credential: string): boolean {
  return JWT.test(credential);
}
