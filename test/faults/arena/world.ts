import { randomUUID } from 'node:crypto';
import { aTenant } from '../../support/tenant';
import { aSigningKey, signToken, type SigningKey } from '../../support/tokens';
import type { Arena } from './arena';
import { exchange, type Reply } from './exchange';

/** A workspace of an experiment, with a campaign whose participants are its customers. */
export interface World {
  readonly tenantId: string;
  readonly adminKey: string;
  readonly campaignId: string;
  /** Whether reactions are there to be tried: they add one to `user.reacted` and `campaign.reacted` an event. */
  readonly reacts: boolean;
  /** The token of a participant. */
  token(subject: string): string;
}

const HOURS_24 = 24 * 3_600;
const VARIABLES = [
  ['user', 'points', 'number'],
  ['user', 'motto', 'string'],
  ['user', 'loose', 'number'],
  ['user', 'reacted', 'number'],
  ['campaign', 'total', 'number'],
  ['campaign', 'reacted', 'number'],
  ['app', 'shared', 'number'],
] as const;
export const EVENT_TYPE = 'purchase';
/** Of events that name nobody but a participant, and that a reaction counts where there are reactions. */
export const REACTING_TYPE = 'visit';

export async function makeWorld(arena: Arena): Promise<World> {
  const { tenantId, adminKey } = await aTenant(arena.postgres.url());
  const campaignId = `campaign-${randomUUID()}`;
  const key = aSigningKey();
  const issuer = `https://${randomUUID()}.example.com`;
  const call = (path: string, body?: unknown): Promise<Reply> => callUntilAnswered(arena, adminKey, path, body);
  await call('/v1/jwt-issuers', { issuer, audience: 'campaigns', jwks: { keys: [key.jwk] } });
  await call('/v1/cdp/event-types', { eventType: EVENT_TYPE, properties: {}, additionalProperties: 'allow' });
  for (const [scope, name, type] of VARIABLES) {
    await call(`/v1/campaigns/${campaignId}/variables:define`, { scope, name, type });
  }
  const reacts = await hasReactions(arena, adminKey);
  if (reacts) {
    const ops = ['user', 'campaign'].map((scope) => ({ path: `state.${scope}.reacted`, op: 'inc', value: 1 }));
    await call(`/v1/campaigns/${campaignId}/reactions:define`, { name: 'count', eventType: REACTING_TYPE, ops });
  }
  // Event types and issuers are known everywhere within a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const token = (subject: string): string => tokenFor(key, { issuer, campaignId, subject });
  return { tenantId, adminKey, campaignId, reacts, token };
}

/** Sends it to one node after the other until one of them answers with anything but 503. */
export async function callUntilAnswered(
  { nodes }: Arena,
  key: string,
  path: string,
  body?: unknown,
  method = 'POST',
): Promise<Reply> {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await exchange(nodes[attempt % nodes.length]!.line.port, { method, path, key, body });
    if (reply !== undefined && reply.status !== 503) {
      if (reply.status >= 400) throw new Error(`${path} was refused: ${JSON.stringify(reply.body)}`);
      return reply;
    }
    if (attempt > 200) throw new Error(`${path} is not answered`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What the service offers is in the document that it serves. */
async function hasReactions(arena: Arena, key: string): Promise<boolean> {
  const { body } = await callUntilAnswered(arena, key, '/docs-json', undefined, 'GET');
  return '/v1/processing/summary' in body.paths && '/v1/campaigns/{campaign_id}/reactions:define' in body.paths;
}

function tokenFor(key: SigningKey, { issuer, campaignId, subject }: Record<string, string>): string {
  const exp = Math.floor(Date.now() / 1_000) + HOURS_24;
  const claims: Readonly<Record<string, unknown>> = { iss: issuer, aud: 'campaigns', sub: subject, exp };
  return signToken(key, { ...claims, campaign_id: campaignId });
}
