import { setTimeout as wait } from 'node:timers/promises';
import { customerViolations, type CustomerRows } from '../oracle/customers';
import { eventViolations, isUnsettled, type StoredEvent } from '../oracle/events';
import { isUnsettledMutation, mutationViolations, type Value } from '../oracle/mutations';
import { reactionViolations } from '../oracle/reactions';
import { deadlocksIn } from '../oracle/server-log';
import { brokenHistories } from '../../support/histories';
import { QUEUED_EVENTS } from '../../support/processing';
import { brokenRules } from '../../support/sound-customers';
import { withSession, type Arena } from './arena';
import { counted, type EventRecord, type Journal, type MutationRecord } from './journal';
import { askToErase } from './erase';
import { variableOf, type Actor } from './load';
import { sendEvent, sendMutation } from './send';
import { callUntilAnswered, type World } from './world';

const SETTLE_ROUNDS_MAX = 100;
const SENDERS = 16;
/** Longer than a node keeps trying, so that nothing that a cut left under way is still on its way. */
const LEFT_UNDER_WAY_MS = 2_500;
const DRAINED_MS_MAX = 120_000;

/** Sends what nobody knows the outcome of again, until somebody does. */
export async function settle(actor: Actor): Promise<void> {
  const { arena, journal } = actor;
  await wait(LEFT_UNDER_WAY_MS);
  for (let round = 0; round < SETTLE_ROUNDS_MAX; round += 1) {
    const events = journal.events.filter(isUnsettled);
    const mutations = journal.mutations.filter(isUnsettledMutation);
    const erasures = journal.erasures.filter(({ isConfirmed }) => !isConfirmed);
    if (events.length + mutations.length + erasures.length === 0) return;
    await inTurns(events, (event) => sendEvent(arena, journal, round % 2, event));
    await inTurns(mutations, (mutation) => sendMutation(arena, journal, round % 2, mutation));
    await inTurns(erasures, (erasure) => askToErase(actor, erasure));
    // What is still unknown after this is left to the oracle to name.
    if (round > 2) await wait(100);
  }
}

/** Every promise that was broken; empty when all were kept. */
export async function violationsIn(arena: Arena, worlds: readonly World[], journal: Journal): Promise<string[]> {
  const reacting = worlds.some(({ reacts }) => reacts);
  const violations = [...journal.misbehaviour];
  for (const world of worlds) {
    if (world.reacts) violations.push(...(await brokenReactions(arena, world, journal)));
    const stored = await storedEvents(arena, world, reacting);
    violations.push(...eventViolations(ofWorld(journal.events, world), stored));
    const values = await storedValues(arena, world, journal);
    violations.push(...mutationViolations(ofWorld(journal.mutations, world), values));
    violations.push(...(await brokenHistories(arena.postgres.url(), world.tenantId)));
    const erased = ofWorld(journal.erasures, world);
    violations.push(
      ...erased.filter(({ isConfirmed }) => !isConfirmed).map(({ subject }) => `never erased: ${subject}`),
    );
    violations.push(...customerViolations(await customerRows(arena, world), erased));
    violations.push(...(await brokenRules(arena.postgres.url(), world.tenantId)));
  }
  violations.push(...deadlocksIn(await arena.postgres.log()));
  return violations;
}

function ofWorld<T extends { readonly world: World }>(records: readonly T[], world: World): T[] {
  return records.filter((record) => record.world === world);
}

async function inTurns<T>(list: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...list];
  const one = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: SENDERS }, one));
}

async function rowsOf<T>(arena: Arena, text: string, { tenantId }: World): Promise<T[]> {
  return withSession(arena, async (client) => (await client.query(text, [tenantId])).rows as T[]);
}

function storedEvents(arena: Arena, world: World, isQueueWorkedOff: boolean): Promise<StoredEvent[]> {
  const queued = `, (SELECT count(*)::int FROM ${QUEUED_EVENTS} q
    WHERE q.tenant_id = e.tenant_id AND q.event_id = e.event_id) AS queued`;
  return rowsOf(
    arena,
    `SELECT tenant_id AS "tenantId", source, external_event_id AS "externalEventId", event_id AS "eventId"
       ${isQueueWorkedOff ? '' : queued} FROM events e WHERE tenant_id = $1`,
    world,
  );
}

async function customerRows(arena: Arena, world: World): Promise<CustomerRows> {
  const select = <T>(columns: string, table: string) =>
    rowsOf<T>(arena, `SELECT tenant_id AS "tenantId", ${columns} FROM ${table} WHERE tenant_id = $1`, world);
  return {
    profiles: await select(
      'profile_id AS "profileId", root_id AS "rootId", erased_at IS NOT NULL AS "isErased"',
      'profiles',
    ),
    identifiers: await select('kind, profile_id AS "profileId"', 'profile_identifiers'),
    events: await select('event_id AS "eventId", profile_id AS "profileId", identity, properties', 'events'),
    subjects: await select('subject', 'participant_states'),
  };
}

/** The values of every variable that the journal names, as the service tells them. */
async function storedValues(arena: Arena, world: World, journal: Journal): Promise<Record<string, Value | undefined>> {
  const values: Record<string, Value | undefined> = {};
  for (const subject of subjectsOf(ofWorld(journal.mutations, world))) {
    const { state } = await stateOf(arena, world, subject);
    for (const scope of ['user', 'campaign', 'app']) {
      for (const [name, value] of Object.entries<Value>(state[scope])) {
        if (name !== 'reacted') values[variableOf(world, subject, `state.${scope}.${name}`)] = value;
      }
    }
  }
  return values;
}

function subjectsOf(mutations: readonly MutationRecord[]): Set<string> {
  const users = mutations.flatMap(({ ops }) => ops.filter(({ variable }) => variable.includes('state.user')));
  return new Set(users.map(({ variable }) => variable.split(' ')[1] ?? ''));
}

async function stateOf(arena: Arena, { campaignId, adminKey }: World, subject: string): Promise<any> {
  const path = `/v1/campaigns/${campaignId}/participants/${subject}/state`;
  return (await callUntilAnswered(arena, adminKey, path, undefined, 'GET')).body;
}

/** Waits until the queue is worked off, and compares what reactions have counted with what is stored. */
async function brokenReactions(arena: Arena, world: World, journal: Journal): Promise<string[]> {
  const { queued, failed } = await untilDrained(arena, world);
  const events = ofWorld(journal.events, world).filter((event) => event.reactsFor !== undefined && isStored(event));
  const stored: Record<string, number> = {};
  for (const { reactsFor = '' } of events) stored[reactsFor] = (stored[reactsFor] ?? 0) + 1;
  const counted: Record<string, number> = {};
  let total = 0;
  for (const subject of Object.keys(stored)) {
    const { state } = await stateOf(arena, world, subject);
    counted[subject] = state.user.reacted ?? 0;
    total = state.campaign.reacted ?? 0;
  }
  return reactionViolations({ stored, counted, total, queued, failed });
}

function isStored({ outcomes }: EventRecord): boolean {
  return outcomes.some(({ kind }) => kind === 'accepted' || kind === 'duplicate');
}

async function untilDrained(arena: Arena, { adminKey }: World): Promise<{ queued: number; failed: number }> {
  for (const until = performance.now() + DRAINED_MS_MAX; ;) {
    const { body } = await callUntilAnswered(arena, adminKey, '/v1/processing/summary', undefined, 'GET');
    if (body.queued === 0 || performance.now() > until) return { queued: body.queued, failed: body.failed };
    await wait(100);
  }
}

/** What was tried, in numbers. */
export function tallyOf(journal: Journal): Record<string, number> {
  const { events, mutations, erasures, undone, requests } = journal;
  return {
    requests,
    accepted: counted(events, 'accepted'),
    duplicates: counted(events, 'duplicate'),
    refused: counted(events, 'refused'),
    mutations: counted(mutations, 'applied'),
    unknown: counted(events, 'unknown') + counted(mutations, 'unknown'),
    undone,
    erased: erasures.filter(({ isConfirmed }) => isConfirmed).length,
  };
}
