import { aCdpEvent, anExternalEvent, registerTypes } from '../support/builders';
import { aWorkspace, reviewEntries, type Workspace } from '../support/client';
import { aTokenIssuer } from '../support/tokens';
import type { Known } from './arbitraries';
import type { Credentials } from './requests';

/** A workspace with something of every kind, so that right requests find what they ask for. */
export interface Fixtures {
  readonly workspace: Workspace;
  readonly credentials: Credentials;
  readonly known: Known;
}

export async function prepare(service: { readonly url: string; readonly databaseUrl: string }): Promise<Fixtures> {
  const workspace = await aWorkspace(service);
  const { admin } = workspace;
  await registerTypes(admin);
  const emails = ['a@example.com', 'b@example.com', 'c@example.com'];
  const names = ['customer-1', 'customer-2', 'subject-1'];
  const eventIds: string[] = [];
  const externalIds: string[] = [];
  for (const [index, email] of emails.entries()) {
    const sent = [
      aCdpEvent({ identity: { email } }),
      anExternalEvent({ identity: { type: 'EXTERNAL', value: names[index] } }),
      aCdpEvent({ identity: { email, externalUserId: names[index] } }),
    ];
    for (const event of sent) {
      const path = 'eventType' in event ? '/v1/cdp/events' : '/v1/external-events';
      eventIds.push((await admin.post(path, event)).body.event_id);
      externalIds.push(String(event['externalEventId'] ?? event['external_event_id']));
    }
    await admin.post('/v1/external-events', anExternalEvent({ type: '', source: `source-${index}` }));
  }
  const profiles = await Promise.all(
    names.map(async (value) => (await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value })).body.id),
  );
  const merges = await admin.get(`/v1/cdp/profiles/${profiles[0]}/merges`);
  for (const [scope, type] of [
    ['user', 'number'],
    ['campaign', 'string'],
    ['app', 'boolean'],
  ]) {
    await admin.post('/v1/campaigns/spring/variables:define', { scope, name: `${scope}_${type}`, type });
  }
  const issuer = await aTokenIssuer(admin);
  const keys = await Promise.all(
    [1, 2, 3].map(() => admin.post('/v1/api-keys', { name: 'throwaway', scopes: ['events:read'] })),
  );
  const issuers = await Promise.all([1, 2].map(() => aTokenIssuer(admin)));
  const entries = (await reviewEntries(admin)).map(({ id }) => id);
  const ids = [
    ...profiles,
    ...entries,
    ...merges.body.items.map(({ id }: { id: string }) => id),
    keys[0]!.body.apiKey.id,
  ];
  return {
    workspace,
    credentials: { apiKey: admin.key!, token: issuer.token({ sub: 'subject-1', campaign_id: 'spring' }) },
    known: {
      id: ids,
      eventId: eventIds,
      campaign_id: ['spring'],
      campaignId: ['spring'],
      sub: ['subject-1'],
      source: ['shop.orders', 'source-1'],
      type: ['EXTERNAL', 'EMAIL', 'number'],
      value: [...names, ...emails, 7],
      eventType: ['purchase', 'anything'],
      externalEventId: externalIds,
      external_event_id: externalIds,
      externalUserId: names,
      email: emails,
      path: ['state.user.user_number', 'state.campaign.campaign_string'],
      scope: ['user', 'campaign', 'app'],
      name: ['user_number', 'campaign_string', 'fresh'],
      identity: [
        { type: 'EXTERNAL', value: 'customer-1' },
        { type: 'EMAIL', value: 'a@example.com' },
        { email: 'b@example.com' },
      ],
      attributes: [{}, { amount: 1 }],
      amount: [1, 29.33],
      occurred_at: ['2026-01-02T03:04:05Z'],
      occurredAt: ['2026-01-02T03:04:05Z'],
      throwawayKeyId: keys.map(({ body }) => body.apiKey.id),
      throwawayIssuerId: issuers.map(({ record }) => record.id),
    },
  };
}
