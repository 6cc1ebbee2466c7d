import { randomBytes } from 'node:crypto';
import type { SharedApp } from './app';
import { aCdpEvent, anExternalEvent } from './builders';
import { aClient, type Answer, type Client } from './client';
import { addressOf, type Operation } from './operations';
import { anEd25519Signer } from './signatures';
import { aTokenIssuer, type TokenIssuer } from './tokens';
import { until } from './until';

/** A workspace beside another one of the same service, with participants of its own. */
export interface Twin {
  /** In every record that `fill` makes, and in no other. */
  readonly mark: string;
  readonly admin: Client;
  /** Both workspaces have one of this `iss`, each for an audience of its own; tokens are for the campaign `mark` by default. */
  readonly issuer: TokenIssuer;
  /** A person of this name, the same in both when it is not given. */
  readonly participant: (sub?: string) => Client;
}

export async function twins(service: SharedApp): Promise<readonly [Twin, Twin]> {
  const iss = `https://${randomBytes(8).toString('hex')}.example.com`;
  return Promise.all([aTwin(service, iss), aTwin(service, iss)]);
}

async function aTwin(service: SharedApp, iss: string): Promise<Twin> {
  const mark = `mark-${randomBytes(8).toString('hex')}`;
  const admin = await aClient(service);
  const fields = { issuer: iss, audience: `audience-${mark}`, defaultCampaignId: mark };
  const issuer = await aTokenIssuer(admin, { fields });
  return { mark, admin, issuer, participant: (sub = 'jane') => issuer.participant({ sub }) };
}

/** Does the same in both at once. */
export function inBoth<T>([one, other]: readonly [Twin, Twin], work: (twin: Twin) => Promise<T>): Promise<[T, T]> {
  return Promise.all([work(one), work(other)]);
}

/** What stands in a path before the parameter that it is for: `campaigns` has `campaign_id`. */
type Folder = string;

/** Names below these paths belong to no workspace: they are answered as if nothing had happened there yet. */
export const FREE_NAMES: readonly Folder[] = ['campaigns', 'participants', 'variables', 'name'];

/** The kinds of shared values are in addresses, too; they are no names. */
export const SHARED_SCOPE = 'campaign';

/** One record of each kind, and more where there are lists of them, in the words of the paths that lead there. */
export type Filled = Readonly<Record<Folder, string>>;

/** Makes records of each kind that there is, all bearing the mark; a new kind is to be added here. */
export async function fill({ mark, admin, issuer, participant }: Twin): Promise<Filled> {
  const made = async (path: string, body: object, by = admin): Promise<any> => {
    const answer = await by.post(path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const attributes = { note: mark };
  const webhooks: string[] = [];
  for (const path of ['one', 'two']) {
    const url = `https://hooks.example.com/${mark}/${path}`;
    const { webhook } = await made('/v1/webhooks', {
      url,
      events: [{ eventType: 'purchase', source: mark }],
      description: mark,
    });
    // Its deliveries stay as they are.
    await made(`/v1/webhooks/${webhook.id}:disable`, {});
    webhooks.push(webhook.id);
  }
  const { event_id: event } = await made('/v1/external-events', anExternalEvent({ source: mark, attributes }));
  await made('/v1/external-events', anExternalEvent({ source: mark, attributes }));
  for (const identity of [{}, { type: 'EMAIL' }]) {
    await admin.post('/v1/external-events', anExternalEvent({ source: mark, identity }));
  }
  await until(async () => (await admin.get(`/v1/webhooks/${webhooks[0]}/deliveries`)).body.items.length === 2);
  const lately = { from: new Date(Date.now() - 86_400_000).toISOString(), to: '2999-01-01T00:00:00Z' };
  const webhookReplays: string[] = [];
  for (const _each of ['one', 'two']) {
    const { jobId } = await made(`/v1/webhooks/${webhooks[0]}:replay`, lately);
    await made(`/v1/webhooks/${webhooks[0]}/replays/${jobId}:cancel`, {});
    webhookReplays.push(jobId);
  }
  const [entry] = (await admin.get(`/v1/review-entries?source=${mark}`)).body.items;
  for (const eventType of [mark, `${mark}-other`]) await made('/v1/cdp/event-types', { eventType, properties: {} });
  const { jobId: replay } = await made('/v1/review-entries:replay', { filter: { source: mark, reason: 'none' } });
  const { jobId: dismissal } = await made('/v1/review-entries:dismiss', { filter: { source: mark, reason: 'none' } });
  await admin.send('/v1/retention', JSON.stringify({ eventDays: 3650 }), { method: 'PUT' });
  await made('/v1/api-keys', { name: mark, scopes: ['events:read'] });
  const { apiKey: key } = await made('/v1/api-keys', { name: mark, scopes: ['events:read'] });
  await made(`/v1/api-keys/${key.id}:revoke`, {});
  await made('/v1/service-credentials', { name: mark, algorithm: 'hmac-sha256' });
  const credential = (await anEd25519Signer(admin)).keyId;
  await aTokenIssuer(admin, { fields: { audience: mark } });
  const variable = { scope: 'user', name: 'note', type: 'string', description: mark };
  await made(`/v1/campaigns/${mark}/variables:define`, variable);
  const reaction = { eventType: mark, ops: [{ path: 'state.user.note', op: 'set', value: mark }] };
  for (const name of [`${mark}-other`, mark]) {
    await made(`/v1/campaigns/${mark}/reactions:define`, { ...reaction, name });
  }
  const range = { from: '2000-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' };
  const reactionPath = `/v1/campaigns/${mark}/reactions/${mark}`;
  const { jobId: cancelled } = await made(`${reactionPath}:backfill`, range);
  await made(`${reactionPath}/backfills/${cancelled}:cancel`, {});
  const { jobId: backfill } = await made(`${reactionPath}:backfill`, range);
  const { profile, merge } = await aMergedCustomer(admin, mark);
  const shared = mark.replaceAll('-', '_');
  await made(`/v1/campaigns/${mark}/variables:define`, { ...variable, scope: 'campaign', name: shared });
  const paths = ['user.note', `campaign.${shared}`].flatMap((path) => [path, path]);
  const ops = paths.map((path) => ({ path: `state.${path}`, op: 'set', value: mark }));
  for (const sub of [`other-${mark}`, mark]) {
    await made(`/v1/campaigns/${mark}/runtime/state:mutate`, { ops }, participant(sub));
  }
  // A second campaign, and both for the merged customer.
  await made(`/v1/campaigns/${mark}-other/variables:define`, variable);
  const note = { ops: [{ path: 'state.user.note', op: 'set', value: mark }] };
  for (const campaign of [`${mark}-other`, mark]) {
    await made(`/v1/campaigns/${campaign}/participants/merged-${mark}/state:mutate`, note);
  }
  return {
    webhooks: webhooks[0]!,
    deliveries: event,
    replays: webhookReplays[0]!,
    events: event,
    'review-entries': entry.id,
    'event-types': mark,
    'api-keys': key.id,
    profiles: profile,
    merges: merge,
    'review-replays': replay,
    'review-dismissals': dismissal,
    'jwt-issuers': issuer.record.id,
    'service-credentials': credential,
    campaigns: mark,
    participants: mark,
    variables: SHARED_SCOPE,
    name: shared,
    reactions: mark,
    backfills: backfill,
  };
}

/** A customer into whom two others were merged who had an email address each. */
async function aMergedCustomer(admin: Client, mark: string): Promise<{ profile: string; merge: string }> {
  const externalUserId = `merged-${mark}`;
  const send = async (identity: object): Promise<any> =>
    (await admin.post('/v1/cdp/events', aCdpEvent({ source: mark, eventType: mark, properties: {}, identity }))).body;
  const { event_id: event } = await send({ externalUserId });
  for (const email of [`one-${mark}@example.com`, `two-${mark}@example.com`]) {
    await send({ email });
    await send({ externalUserId, email });
  }
  const { profileId: profile } = (await admin.get(`/v1/events/${event}`)).body;
  const [merge] = (await admin.get(`/v1/cdp/profiles/${profile}/merges`)).body.items;
  return { profile, merge: merge.id };
}

/** The folders of the parameters of an operation, in their order; one behind another parameter names itself. */
export function foldersOf({ path }: Operation): Folder[] {
  const steps = path.split(/[/:]/);
  return steps.flatMap((step, index) => {
    const [, name] = /^\{(\w+)\}$/.exec(step) ?? [];
    const folder = steps[index - 1] ?? '';
    return name === undefined ? [] : [folder.startsWith('{') ? name : folder];
  });
}

/** Calls an operation as an administrator or a participant of a workspace, with names of records in its path. */
export function ask(twin: Twin, operation: Operation, filled: Filled, query = ''): Promise<Answer> {
  const client = operation.callers === 'participant' ? twin.participant(twin.mark) : twin.admin;
  const folders = foldersOf(operation);
  const values = Object.fromEntries(operation.parameters.map((name, index) => [name, filled[folders[index]!]!]));
  const body = operation.body === '' ? undefined : operation.body;
  return client.send(`${addressOf(operation, values)}${query}`, body, { method: operation.method });
}

/** These change by themselves some time after a request. */
const IN_ITS_OWN_TIME = ['lastUsedAt', 'processing'];

/** What an answer says, without what changes by itself. */
export function steady(body: unknown): string {
  return JSON.stringify(body, (key, value) => (IN_ITS_OWN_TIME.includes(key) ? null : value));
}

/** All that a workspace is shown by all reads there are, by the name of the operation. */
export async function viewOf(
  twin: Twin,
  operations: readonly Operation[],
  filled: Filled,
): Promise<ReadonlyMap<string, string>> {
  const reads = operations.filter(({ method }) => method === 'GET');
  const answers = reads.map(async (operation) => {
    const { status, body } = await ask(twin, operation, filled, operation.query.includes('limit') ? '?limit=200' : '');
    if (status !== 200) throw new Error(`${operation.name}: ${status} ${JSON.stringify(body)}`);
    return [operation.name, steady(body)] as const;
  });
  return new Map(await Promise.all(answers));
}

/** The texts in an answer that no other workspace has: ids and the mark. */
export function ownWords(text: string, { mark }: Twin): Set<string> {
  const ids = text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
  return new Set([...ids, ...(text.includes(mark) ? [mark] : [])]);
}
