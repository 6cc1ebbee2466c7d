import type { ErasureRecord, EventRecord, MutationRecord } from './journal';
import { aNewEvent, type Actor } from './load';
import { attempt, sendEvent, sendMutation } from './send';

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
  const erasure = { tenantId: world.tenantId, world, subject, profileId: found.body.id, isConfirmed: false };
  journal.erasures.push(erasure);
  if (await askToErase(actor, erasure)) {
    const late = event();
    await send(late);
    if (late.outcomes.some(({ kind }) => kind === 'accepted')) {
      journal.misbehaviour.push(`an event of an erased person was accepted: ${late.externalEventId}`);
    }
  }
  await Promise.all(racing);
}

/** Whether it was confirmed; until then it may be done, half done, or not done at all. */
export async function askToErase(actor: Omit<Actor, 'worlds'>, erasure: ErasureRecord): Promise<boolean> {
  const path = `/v1/cdp/profiles/${erasure.profileId}:erase`;
  const reply = await ask(actor, erasure.world.adminKey, path);
  if (reply?.status === 200) erasure.isConfirmed = true;
  return erasure.isConfirmed;
}

/** Outside the journal, because an erasure ends its chain. */
function aMotto(world: MutationRecord['world'], subject: string): MutationRecord {
  const body = { ops: [{ path: 'state.user.motto', op: 'set', value: subject }], mutation_id: subject };
  return { world, token: world.token(subject), mutationId: subject, body, ops: [], outcomes: [] };
}

function ask({ arena, journal, random }: Omit<Actor, 'worlds'>, key: string, path: string, body?: unknown) {
  return attempt(arena, journal, random.below(arena.nodes.length), { path, key, body }, [200, 404]);
}
