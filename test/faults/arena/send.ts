import type { EventOutcome } from '../oracle/events';
import type { Entry, MutationOutcome } from '../oracle/mutations';
import type { Arena } from './arena';
import { exchange, HungError, type Reply } from './exchange';
import type { EventRecord, Journal, MutationRecord } from './journal';

const UNKNOWN = { kind: 'unknown' } as const;
const PATHS = {
  external: { single: '/v1/external-events', batch: '/v1/external-events:batch' },
  cdp: { single: '/v1/cdp/events', batch: '/v1/cdp/events/batch' },
};

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly key: string;
  readonly body?: unknown;
}

/** Sends something once and notes what no fault excuses; undefined where there was no whole answer, or 503. */
export async function attempt(
  { nodes }: Arena,
  journal: Journal,
  node: number,
  sent: Sent,
  foreseen: readonly number[],
): Promise<Reply | undefined> {
  journal.requests += 1;
  const reply = await exchange(nodes[node]!.line.port, sent).catch((error: unknown) => {
    if (!(error instanceof HungError)) throw error;
    journal.misbehaviour.push(error.message);
    return undefined;
  });
  if (reply === undefined || reply.status === 503) journal.failures += 1;
  if (reply === undefined) return undefined;
  journal.slowestMs = Math.max(journal.slowestMs, reply.tookMs);
  if (reply.status === 503) {
    if (!/^\d+$/.test(String(reply.headers['retry-after']))) journal.misbehaviour.push(`503 without Retry-After`);
    return undefined;
  }
  if (!foreseen.includes(reply.status)) {
    journal.misbehaviour.push(`${sent.path} was answered ${reply.status} ${JSON.stringify(reply.body)}`);
  }
  return reply;
}

export async function sendEvent(arena: Arena, journal: Journal, node: number, record: EventRecord): Promise<void> {
  const { world, family, body } = record;
  const sent = { path: PATHS[family].single, key: world.adminKey, body };
  record.outcomes.push(outcomeOf(await attempt(arena, journal, node, sent, [200, 202, 409])));
}

/** All of one family and workspace. */
export async function sendBatch(
  arena: Arena,
  journal: Journal,
  node: number,
  records: readonly EventRecord[],
): Promise<void> {
  const [first] = records;
  if (first === undefined) return;
  const sent = {
    path: PATHS[first.family].batch,
    key: first.world.adminKey,
    body: { items: records.map(({ body }) => body) },
  };
  const reply = await attempt(arena, journal, node, sent, [200]);
  records.forEach((record, index) => {
    const result = reply?.body.results?.[index];
    record.outcomes.push(result === undefined ? UNKNOWN : outcomeOfItem(result));
  });
}

export async function sendMutation(
  arena: Arena,
  journal: Journal,
  node: number,
  record: MutationRecord,
): Promise<MutationOutcome> {
  const sent = { path: '/v1/runtime/state:mutate', key: record.token, body: record.body };
  const reply = await attempt(arena, journal, node, sent, [200]);
  const outcome: MutationOutcome = reply === undefined ? UNKNOWN : mutationOutcomeOf(reply);
  record.outcomes.push(outcome);
  return outcome;
}

function outcomeOf(reply: Reply | undefined): EventOutcome {
  if (reply === undefined) return UNKNOWN;
  if (reply.status === 202) return { kind: 'accepted', eventId: reply.body.event_id };
  if (reply.status === 200) return { kind: 'duplicate', eventId: reply.body.original_event_id };
  return { kind: 'refused', code: String(reply.body?.error_code) };
}

function outcomeOfItem(result: any): EventOutcome {
  if (result.status === 'accepted') return { kind: 'accepted', eventId: result.event_id };
  if (result.status === 'duplicate') return { kind: 'duplicate', eventId: result.original_event_id };
  return result.error_code === 'unavailable' ? UNKNOWN : { kind: 'refused', code: String(result.error_code) };
}

function mutationOutcomeOf({ status, body }: Reply): MutationOutcome {
  if (status !== 200) return { kind: 'refused' };
  const entries: Entry[] = body.mutations.map(({ previous, current }: Entry) => ({ previous, current }));
  return { kind: body.status, entries };
}
