import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookVerificationError } from '../../clients/typescript/src/webhooks';
import { makeSecret, signatureHeader } from '../../src/webhooks/domain/standard-webhooks';
import type { WebhookAlgorithm } from '../../src/webhooks/domain/webhook';

const NOW = new Date('2026-01-02T03:04:05Z');
const BODY = JSON.stringify({ type: 'event.purchase', timestamp: '2026-01-02T03:04:00.000Z', data: { amount: 'é' } });

const aSecret = (algorithm: WebhookAlgorithm = 'hmac-sha256') => makeSecret(algorithm, randomBytes);

function headersBy(secrets: readonly string[], ageSeconds = 0): Record<string, string> {
  const timestamp = NOW.getTime() / 1_000 - ageSeconds;
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureHeader(secrets, { id: 'msg_1', timestamp, body: BODY }),
  };
}

describe.each(['hmac-sha256', 'ed25519'] as const)('verifyWebhook with %s', (algorithm) => {
  const { secret, shown } = aSecret(algorithm);

  it('returns the content of a call, also while secrets are rotated', async () => {
    const expected = { id: 'msg_1', type: 'event.purchase', data: { amount: 'é' } };
    expect(await verifyWebhook(BODY, headersBy([secret]), shown, NOW.getTime())).toMatchObject(expected);
    const rotating = new Headers(headersBy([aSecret(algorithm).secret, secret]));
    expect(await verifyWebhook(BODY, rotating, shown, NOW.getTime())).toMatchObject(expected);
  });

  it('refuses a changed body, id, time or signature, and another secret', async () => {
    const headers = headersBy([secret]);
    const refused = async (body: string, changes: Record<string, string>, by = shown): Promise<void> => {
      await expect(verifyWebhook(body, { ...headers, ...changes }, by, NOW.getTime())).rejects.toThrow(
        WebhookVerificationError,
      );
    };
    await refused(`${BODY} `, {});
    await refused(BODY, { 'webhook-id': 'msg_2' });
    await refused(BODY, { 'webhook-timestamp': String(NOW.getTime() / 1_000 + 1) });
    await refused(BODY, { 'webhook-signature': 'v1,AAAA v1a,AAAA v1,%% nothing' });
    await refused(BODY, { 'webhook-signature': '' });
    await refused(BODY, {}, aSecret(algorithm).shown);
    await refused(BODY, {}, 'secret');
  });

  it('takes five minutes of difference in time and no more', async () => {
    for (const age of [300, -300]) await verifyWebhook(BODY, headersBy([secret], age), shown, NOW.getTime());
    for (const age of [301, -301]) {
      await expect(verifyWebhook(BODY, headersBy([secret], age), shown, NOW.getTime())).rejects.toThrow(/five minutes/);
    }
  });
});

it('takes what another implementation signed', async () => {
  const { shown } = aSecret();
  const now = new Date();
  const signature = new Webhook(shown).sign('msg_2', now, BODY);
  const headers = {
    'webhook-id': 'msg_2',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signature,
  };
  expect(await verifyWebhook(BODY, headers, shown)).toMatchObject({ id: 'msg_2' });
});

it.each(['whsec_', 'whpk_', `whpk_${Buffer.alloc(31).toString('base64')}`])(
  'refuses what is no whole secret: %s',
  async (secret) => {
    const verified = verifyWebhook(BODY, headersBy([aSecret().secret]), secret, NOW.getTime());
    await expect(verified).rejects.toThrow(WebhookVerificationError);
  },
);

it('asks the clock of the machine each time, which may have been set since the start', async () => {
  const { secret, shown } = aSecret();
  const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  try {
    const ageSeconds = Math.round((NOW.getTime() - Date.now()) / 1_000);
    await expect(verifyWebhook(BODY, headersBy([secret], ageSeconds), shown)).resolves.toMatchObject({ id: 'msg_1' });
    await expect(verifyWebhook(BODY, headersBy([secret], ageSeconds + 3_600), shown)).rejects.toThrow(/five minutes/);
  } finally {
    later.mockRestore();
  }
});
