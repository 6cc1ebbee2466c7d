import type { EventRecord, MutationRecord } from './journal';
import { aNewEvent, type Actor } from './load';
import { attempt, sendEvent, sendMutation } from './send';

const ATTEMPTS_MAX = 100;

/**
 * Makes somebody with events and values, erases them while further events of theirs arrive, and sees that nothing is taken
 * for them afterwards.
 */
export async function eraseSomebody(actor: Actor): Promise<void> {
  const { arena, journal, random, worlds } = actor;
  const world = random.oneOf(worlds);
  const subject = `gone-${journal.events.length}`;
  const identity = { externalUserId: subject, email: `${subject}@example.com` };
  const event = (): EventRecord => aNewEvent(actor, world, identity);
  const send = (record: EventRecord) => sendEvent(arena, journal, random.below(arena.nodes.length), record);
  await Promise.all([event(), event()].map(send));
  const changed = await sendMutation(arena, journal, 0, aMotto(world, subject));
  const found = await ask(actor, world.adminKey, '/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: subject });
  // A change that is still under way somewhere would be made after the erasure, as a new one.
  if (changed.kind !== 'applied' || found?.status !== 200) return;
  const racing = [event(), event()].map(send);
  for (let turn = 0; turn < ATTEMPTS_MAX; turn += 1) {
    const erased = await ask(actor, world.adminKey, `/v1/cdp/profiles/${found.body.id}:erase`);
    if (erased?.status !== 200) continue;
    journal.erased.push({ tenantId: world.tenantId, subject });
    const late = event();
    await send(late);
    if (late.outcomes.some(({ kind }) => kind === 'accepted')) {
      journal.misbehaviour.push(`an event of an erased person was accepted: ${late.externalEventId}`);
    }
    break;
  }
  await Promise.all(racing);
}

/** Outside the journal, because an erasure ends its chain. */
function aMotto(world: MutationRecord['world'], subject: string): MutationRecord {
  const body = { ops: [{ path: 'state.user.motto', op: 'set', value: subject }], mutation_id: subject };
  return { ...{ world, token: world.token(subject), mutationId: subject, body }, ops: [], outcomes: [] };
}

function ask({ arena, journal, random }: Actor, key: string, path: string, body?: unknown) {
  return attempt(arena, journal, random.below(arena.nodes.length), { path, key, body }, [200, 404]);
}
