import { crc32 } from 'node:zlib';

const PREFIX = 'cds_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);
/** The largest multiple of 62 in a byte. Larger bytes are dropped: they would make some characters more likely. */
const FAIR_BYTES = 248;

/**
 * Makes a key `cds_<32 base62><6 base62 CRC-32>` (contract section 2) with 190 random bits. `randomBytes(count)` returns
 * fresh random bytes.
 */
export function makeApiKey(randomBytes: (count: number) => Uint8Array): string {
  let random = '';
  while (random.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS)) {
      if (byte < FAIR_BYTES && random.length < RANDOM_CHARACTERS) random += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return `${PREFIX}${random}${checksum(random)}`;
}

/** Whether a text has the form of a key but a wrong checksum. This finds typos without a look-up. */
export function hasWrongChecksum(key: string): boolean {
  if (!SHAPE.test(key)) return false;
  const random = key.slice(PREFIX.length, -CHECKSUM_CHARACTERS);
  return checksum(random) !== key.slice(-CHECKSUM_CHARACTERS);
}

/** The part of a key that is shown after its creation: enough to find it in a list, too little to guess it. */
export function hintOf(key: string): string {
  return `${key.slice(0, 8)}…${key.slice(-4)}`;
}

function checksum(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let position = 0; position < CHECKSUM_CHARACTERS; position += 1) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
