import { setTimeout as wait } from 'node:timers/promises';
import type { SentOperation } from '../oracle/mutations';
import type { Arena } from './arena';
import { eraseSomebody } from './erase';
import { acknowledged, type EventRecord, type Journal, type MutationRecord } from './journal';
import type { Random } from './random';
import { attempt, sendBatch, sendEvent, sendMutation } from './send';
import { EVENT_TYPE, REACTING_TYPE, type World } from './world';

const CLIENTS = 8;
/** Between two requests of one client, so that a machine is not only busy with sending: least where nothing else runs beside. */
const PAUSE_MS = process.env['LONG_ROUNDS'] === undefined ? 40 : 4;
/** After a request that failed. */
const PAUSE_AFTER_FAILURE_MS = 60;
const SUBJECTS = 30;
/** So many names meet one another at a time; the window moves on, so that there are always new ones to merge. */
const WINDOW = 40;
const PROGRESS_MS_MAX = 60_000;
const SOURCE = 'shop.orders';

/** Clients of all kinds, who send and repeat until they are told to stop. */
export interface Load {
  readonly journal: Journal;
  /** Until so many more events and mutations have been acknowledged. */
  progress(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** What a client needs to do anything. */
export interface Actor {
  readonly arena: Arena;
  readonly worlds: readonly World[];
  readonly journal: Journal;
  readonly random: Random;
}

export function startLoad(actor: Actor): Load {
  let stopped = false;
  const until = async (act: () => Promise<void>, pauseMs: number): Promise<void> => {
    while (!stopped) {
      const failures = actor.journal.failures;
      await act();
      await wait(actor.journal.failures > failures ? PAUSE_AFTER_FAILURE_MS : pauseMs);
    }
  };
  const loops = [
    ...Array.from({ length: CLIENTS }, () => until(() => actOnce(actor), PAUSE_MS)),
    until(() => undoSomething(actor), 20),
    until(() => eraseSomebody(actor), 150),
  ];
  const { journal } = actor;
  return {
    journal,
    progress: async (count) => {
      const goal = acknowledged(journal) + count;
      const giveUp = performance.now() + PROGRESS_MS_MAX;
      while (acknowledged(journal) < goal) {
        await wait(10);
        if (performance.now() > giveUp) throw new Error('The service does not get on');
      }
    },
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
    },
  };
}

/** Something that a client does, with its share of all they do. */
type Act = (actor: Actor, node: number) => Promise<void>;

const ACTS: readonly (readonly [number, Act])[] = [
  [40, (actor, node) => sendEvent(actor.arena, actor.journal, node, aNewEvent(actor))],
  [8, (actor) => sendCopies(actor)],
  [8, (actor, node) => sendMixedBatch(actor, node)],
  [10, (actor, node) => sendOldEvent(actor, node)],
  [22, (actor, node) => mutateWithId(actor, node)],
  [6, (actor, node) => mutateInVain(actor, node)],
  [6, (actor, node) => mutateWithoutId(actor, node)],
];

async function actOnce(actor: Actor): Promise<void> {
  const node = actor.random.below(actor.arena.nodes.length);
  let left = actor.random.below(ACTS.reduce((sum, [share]) => sum + share, 0));
  for (const [share, act] of ACTS) {
    left -= share;
    if (left < 0) return act(actor, node);
  }
}

/**
 * Notes a new event: of the person named, of a participant, or of a customer who is known by one name or by several that
 * become one customer by it.
 */
export function aNewEvent(
  actor: Actor,
  world: World = actor.random.oneOf(actor.worlds),
  identity?: object,
): EventRecord {
  const { journal, random } = actor;
  const externalEventId = `order-${journal.events.length}`;
  const isReacting = identity === undefined && random.chance(1 / 3);
  const record: EventRecord = {
    tenantId: world.tenantId,
    world,
    source: SOURCE,
    externalEventId,
    outcomes: [],
    ...(isReacting
      ? reacting(externalEventId, `subject-${random.below(SUBJECTS)}`)
      : cdp(externalEventId, identity ?? someNames(actor))),
  };
  journal.events.push(record);
  return record;
}

function someNames({ journal, random }: Actor): object {
  const name = (): number => Math.floor(journal.events.length / 60) * 5 + random.below(WINDOW);
  return {
    ...(random.chance(0.25) ? { externalUserId: `customer-${name()}` } : {}),
    ...(random.chance(0.6) ? { deviceKey: `device-${name()}` } : {}),
    email: `mail-${name()}@example.com`,
  };
}

function cdp(externalEventId: string, identity: object): Pick<EventRecord, 'family' | 'body'> {
  const body = { eventType: EVENT_TYPE, occurredAt: '2026-01-02T03:04:05Z', identity, properties: { amount: 29.33 } };
  return { family: 'cdp', body: { source: SOURCE, externalEventId, ...body } };
}

function reacting(externalEventId: string, subject: string): Pick<EventRecord, 'family' | 'body' | 'reactsFor'> {
  const body = { source: SOURCE, external_event_id: externalEventId, type: REACTING_TYPE };
  const about = { occurred_at: '2026-01-02T03:04:05Z', identity: { type: 'EXTERNAL', value: subject } };
  return { family: 'external', reactsFor: subject, body: { ...body, ...about, attributes: { amount: 1 } } };
}

/** The same event to both nodes at once. */
async function sendCopies(actor: Actor): Promise<void> {
  const record = aNewEvent(actor);
  const sends = [0, 1, 0, 1].map((node) => sendEvent(actor.arena, actor.journal, node, record));
  await Promise.all(sends);
}

async function sendOldEvent({ arena, journal, random }: Actor, node: number): Promise<void> {
  if (journal.events.length > 0) await sendEvent(arena, journal, node, random.oneOf(journal.events));
}

/** New events and old ones, some of them twice. */
async function sendMixedBatch(actor: Actor, node: number): Promise<void> {
  const { journal, random } = actor;
  const first = aNewEvent(actor);
  const { world, family } = first;
  const fresh = Array.from({ length: 12 }, () => aNewEvent(actor, world));
  const old = Array.from({ length: 4 }, () => random.oneOf(journal.events)).filter((event) => event.world === world);
  const batch = [first, ...fresh, ...old, first].filter((record) => record.family === family);
  // What does not fit goes by itself.
  const rest = fresh.filter((record) => record.family !== family);
  await Promise.all([
    sendBatch(actor.arena, journal, node, batch),
    ...rest.map((record) => sendEvent(actor.arena, journal, node, record)),
  ]);
}

/** Notes a new mutation. */
function aMutation(
  { journal, random, worlds }: Actor,
  make: (subject: string, number: number) => { path: string; op: SentOperation['op']; value: string | number }[],
  hasId: boolean,
): MutationRecord {
  const number = journal.mutations.length;
  const world = random.oneOf(worlds);
  const subject = `subject-${random.below(SUBJECTS)}`;
  const ops = make(subject, number);
  const mutationId = hasId ? `mutation-${number}` : undefined;
  const record: MutationRecord = {
    world,
    mutationId,
    token: world.token(subject),
    outcomes: [],
    ops: ops.map(({ path, op, value }) => ({ variable: variableOf(world, subject, path), op, value })),
    body: { ops, ...(mutationId === undefined ? {} : { mutation_id: mutationId }) },
  };
  journal.mutations.push(record);
  return record;
}

/** The variable that a path means to a participant. */
export function variableOf({ tenantId, campaignId }: World, subject: string, path: string): string {
  const owners = { user: subject, campaign: campaignId, app: 'default' };
  const scope = path.split('.')[1] as keyof typeof owners;
  return `${tenantId} ${owners[scope]} ${path}`;
}

async function mutateWithId(actor: Actor, node: number): Promise<void> {
  const { arena, journal, random } = actor;
  const record = aMutation(
    actor,
    (_subject, number) => [
      { path: 'state.user.points', op: 'inc', value: 1 + random.below(5) },
      ...(random.chance(0.5) ? [{ path: 'state.campaign.total', op: 'inc' as const, value: 1 }] : []),
      ...(random.chance(0.2) ? [{ path: 'state.app.shared', op: 'inc' as const, value: 2 }] : []),
      ...(random.chance(0.3) ? [{ path: 'state.user.motto', op: 'set' as const, value: `motto ${number}` }] : []),
    ],
    true,
  );
  const copies = random.chance(0.3) ? [node, 1 - node] : [node];
  await Promise.all(copies.map((each) => sendMutation(arena, journal, each, record)));
}

/** An attempt that fails half way, and then the same id with what it should have been. */
async function mutateInVain(actor: Actor, node: number): Promise<void> {
  const { arena, journal } = actor;
  const record = aMutation(actor, () => [{ path: 'state.user.points', op: 'inc', value: 1 }], true);
  const bad = [...(record.body['ops'] as object[]), { path: 'state.user.points', op: 'set', value: 'many' }];
  const sent = { path: '/v1/runtime/state:mutate', key: record.token, body: { ...record.body, ops: bad } };
  const refused = await attempt(arena, journal, node, sent, [422]);
  record.outcomes.push({ kind: refused === undefined ? 'unknown' : 'refused' });
  await sendMutation(arena, journal, node, record);
}

async function mutateWithoutId(actor: Actor, node: number): Promise<void> {
  const record = aMutation(actor, () => [{ path: 'state.user.loose', op: 'inc', value: 1 }], false);
  await sendMutation(actor.arena, actor.journal, node, record);
}

/** Parts two customers whom events had made one. */
async function undoSomething(actor: Actor): Promise<void> {
  const { arena, journal, random, worlds } = actor;
  const { adminKey: key } = random.oneOf(worlds);
  const node = random.below(arena.nodes.length);
  const ask = (path: string, body?: unknown, method = 'POST') =>
    attempt(arena, journal, node, { method, path, key, body }, [200, 404, 409]);
  const address = `mail-${Math.floor(journal.events.length / 60) * 5 + random.below(WINDOW)}@example.com`;
  const found = await ask('/v1/cdp/profiles:lookup', { type: 'EMAIL', value: address });
  if (found?.status !== 200) return;
  const merges = await ask(`/v1/cdp/profiles/${found.body.id}/merges`, undefined, 'GET');
  const merge = merges?.body.items?.find(({ undoneAt }: { undoneAt: string | null }) => undoneAt === null);
  if (merge === undefined) return;
  const undone = await ask(`/v1/cdp/merges/${merge.id}:undo`);
  if (undone?.status === 200) journal.undone += 1;
}
