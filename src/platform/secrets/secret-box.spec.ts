import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { readSettings } from '../config/env';
import { SecretBox, SecretBoxError } from './secret-box';

const KEY = 'a-secrets-key-of-exactly-40-characters-x';
const boxWith = (key?: string): SecretBox => new SecretBox(readSettings(key === undefined ? {} : { SECRETS_KEY: key }));

describe('SecretBox', () => {
  const box = boxWith(KEY);
  const [tenantId, id] = [randomUUID(), randomUUID()];

  it('opens what it sealed, also on another node with the same key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (secret) => {
        expect(boxWith(KEY).open(box.seal(secret, tenantId, id), tenantId, id)).toBe(secret);
      }),
    );
  });

  it('seals the same secret differently each time, and shows nothing of it', () => {
    const secret = 'a secret that is long enough to be found again';
    const sealed = Array.from({ length: 100 }, () => box.seal(secret, tenantId, id));
    expect(new Set(sealed.map((each) => each.toString('hex'))).size).toBe(100);
    expect(sealed.some((each) => each.includes(secret.slice(0, 8)))).toBe(false);
  });

  it('does not open for another record, another workspace, under another key, or when a byte was changed', () => {
    const sealed = box.seal('secret', tenantId, id);
    expect(() => box.open(sealed, tenantId, randomUUID())).toThrow(SecretBoxError);
    expect(() => box.open(sealed, randomUUID(), id)).toThrow(SecretBoxError);
    expect(() => boxWith(`${KEY}x`).open(sealed, tenantId, id)).toThrow(SecretBoxError);
    for (const at of [...sealed.keys()].slice(1)) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => box.open(changed, tenantId, id)).toThrow(SecretBoxError);
    }
    expect(() => box.open(sealed.subarray(0, 10), tenantId, id)).toThrow(SecretBoxError);
    expect(() => box.open(Buffer.alloc(0), tenantId, id)).toThrow(SecretBoxError);
  });

  it('hashes the same parts alike on every node, and others, or under another key, differently', () => {
    const parts = [tenantId, 'EMAIL', 'jane@example.com'];
    expect(boxWith(KEY).keyedHash(parts)).toEqual(box.keyedHash(parts));
    expect(box.keyedHash(parts)).toHaveLength(32);
    expect(boxWith(`${KEY}x`).keyedHash(parts)).not.toEqual(box.keyedHash(parts));
    expect(box.keyedHash(['a|b', 'c'])).not.toEqual(box.keyedHash(['a', 'b|c']));
    expect(box.keyedHash(['1', '1:1'])).not.toEqual(box.keyedHash(['1:1', '1']));
  });

  it('says that it has no key, and what to do', () => {
    expect(boxWith().canSeal).toBe(false);
    expect(() => boxWith().keyedHash(['a'])).toThrow(/set SECRETS_KEY/);
    expect(() => boxWith().seal('secret', tenantId, id)).toThrow(/set SECRETS_KEY/);
  });
});
