/** y coordinates of the points of small order, as RFC 8032 encodes them, and their spellings beyond the field. */
const SMALL_ORDER_POINTS = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);
const POINT_BYTES = 32;
const SIGN_BIT = 0x80;

/**
 * Whether anybody can sign for an Ed25519 key, given as SPKI DER: a point of small order, such as a key of zeros that stands
 * in a template, has signatures that take no private key. OpenSSL opens it like any other.
 */
export function isForgeable(spki: Buffer): boolean {
  const point = Buffer.from(spki.subarray(-POINT_BYTES));
  const last = POINT_BYTES - 1;
  point[last] = (point[last] ?? 0) & ~SIGN_BIT;
  return SMALL_ORDER_POINTS.has(point.toString('hex'));
}
