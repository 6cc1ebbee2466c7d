import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { makeSecret, shownSecret, signatureHeader } from './standard-webhooks';

const CONTENT = { id: 'msg_1', timestamp: Math.floor(Date.now() / 1_000), body: '{"test":2432232314}' };
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

it('signs the example of the specification as it does', () => {
  const header = signatureHeader(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  });
  expect(header).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it('makes secrets of 32 bytes that others verify with', () => {
  const { secret, shown } = makeSecret('hmac-sha256', randomBytes);
  expect(shown).toBe(secret);
  expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  const headers = { 'webhook-id': CONTENT.id, 'webhook-timestamp': String(CONTENT.timestamp) };
  const other = makeSecret('hmac-sha256', randomBytes).secret;
  const both = { ...headers, 'webhook-signature': signatureHeader([other, secret], CONTENT) };
  expect(new Webhook(secret).verify(CONTENT.body, both)).toEqual({ test: 2432232314 });
  const one = { ...headers, 'webhook-signature': signatureHeader([other], CONTENT) };
  expect(() => new Webhook(secret).verify(CONTENT.body, one)).toThrow('No matching signature');
});

it('signs with Ed25519 as v1a, and shows the public half only', () => {
  const { secret, shown } = makeSecret('ed25519', randomBytes);
  expect([secret.slice(0, 5), shown.slice(0, 5)]).toEqual(['whsk_', 'whpk_']);
  expect(shownSecret(secret)).toBe(shown);
  const [version, signature = ''] = signatureHeader([secret], CONTENT).split(',');
  const raw = Buffer.from(shown.slice(5), 'base64');
  expect({ version, bytes: raw.length }).toEqual({ version: 'v1a', bytes: 32 });
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
  const signed = Buffer.from(`${CONTENT.id}.${CONTENT.timestamp}.${CONTENT.body}`);
  expect(verify(null, signed, key, Buffer.from(signature, 'base64'))).toBe(true);
});
