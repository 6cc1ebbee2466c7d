import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { saysTheSame } from '../domain/content-hash';
import type { Outcome } from '../domain/outcome';
import { eventIdOfSent } from '../domain/refusal-problem';
import { FIND_EVENTS } from './event.sql';
import { workOfRefused, worksOf, type Judged, type Sender } from '../judged-event';

/**
 * Finds refused events that are copies of stored ones. An id that is stored answers `duplicate`, whatever is wrong with the copy now:
 * a stricter version of its type, a changed list of sources (contract section 3). Costs one query, and only where something is refused.
 */
@Injectable()
export class RefusedCopies {
  constructor(private readonly database: DataSource) {}

  /**
   * The same events; each refused one whose id is stored has lost its refusal. A well-formed one becomes work, as every duplicate does.
   * Any other says something else than the stored event, which was well-formed.
   */
  async recognize(sender: Sender, judged: readonly Judged[], receivedAt: number): Promise<readonly Judged[]> {
    const ids = new Map<Judged, string>();
    for (const each of judged) {
      const eventId = each.refusal === undefined ? undefined : eventIdOfSent(sender.tenantId, each.checked);
      if (eventId !== undefined) ids.set(each, eventId);
    }
    if (ids.size === 0) return judged;
    const stored = await this.storedAmong(sender.tenantId, [...new Set(ids.values())]);
    return judged.map((each): Judged => {
      const eventId = ids.get(each);
      if (eventId === undefined || !stored.has(eventId)) return each;
      const { checked } = each;
      const work = workOfRefused(sender.tenantId, checked, receivedAt);
      return work === undefined ? { checked, copy: { eventId, isSame: false } } : { checked, work };
    });
  }

  private async storedAmong(tenantId: string, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
    const tenants = eventIds.map(() => tenantId);
    const rows: { position: string }[] = await this.database.query(FIND_EVENTS.text, [tenants, eventIds]);
    return new Set(rows.flatMap(({ position }) => eventIds[Number(position) - 1] ?? []));
  }
}

/** The refused events of a batch that come behind one of the same id that is not refused: their answer depends on what becomes of it. */
export function laterCopies(tenantId: string, judged: readonly Judged[]): ReadonlySet<Judged> {
  const later = new Set<Judged>();
  if (judged.every(({ refusal }) => refusal === undefined)) return later;
  const earlier = new Set<string>();
  for (const each of judged) {
    if (each.work !== undefined) earlier.add(each.work.eventId);
    else if (earlier.has(eventIdOfSent(tenantId, each.checked) ?? '')) later.add(each);
  }
  return later;
}

/** The same events; each of `later` whose event is stored now is a copy of it. `outcomes`: one for each piece of work, in their order. */
export function settleLaterCopies(
  tenantId: string,
  judged: readonly Judged[],
  later: ReadonlySet<Judged>,
  outcomes: readonly (Outcome | undefined)[],
): readonly Judged[] {
  if (later.size === 0) return judged;
  const storedHashes = new Map<string, string>();
  worksOf(judged).forEach(({ work: { eventId } }, index) => {
    const outcome = outcomes[index];
    if (outcome !== undefined && outcome.status !== 'refused') storedHashes.set(eventId, outcome.storedHash);
  });
  return judged.map((each): Judged => {
    const eventId = later.has(each) ? eventIdOfSent(tenantId, each.checked) : undefined;
    const storedHash = eventId === undefined ? undefined : storedHashes.get(eventId);
    if (eventId === undefined || storedHash === undefined) return each;
    const work = workOfRefused(tenantId, each.checked, 0);
    const isSame = work !== undefined && saysTheSame(storedHash, work.contentHash);
    return { checked: each.checked, copy: { eventId, isSame } };
  });
}
