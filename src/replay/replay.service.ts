import { Injectable } from '@nestjs/common';
import type { IngestResult } from '../ingest/domain/outcome';
import { EventFamilies } from '../ingest/event-families';
import { EventReplay } from '../ingest/event-replay';
import type { Principal } from '../platform/auth/principal';
import { Clock } from '../platform/clock/clock';
import { unavailable } from '../platform/database/database-errors';
import { describeFaults } from '../platform/errors/describe-faults';
import { DomainError } from '../platform/errors/domain-error';
import { ReviewReader } from '../review/review-reader';
import { ReviewResolutions } from '../review/review-resolutions';
import type { ReplayAttempt } from '../review/domain/resolution';
import { failedReplay } from './domain/failed-replay';
import { replayable } from './domain/replayable';

/** Sends one event of the review area again, for somebody who waits for what becomes of it (contract section 7). */
@Injectable()
export class ReplayService {
  constructor(
    private readonly entries: ReviewReader,
    private readonly resolutions: ReviewResolutions,
    private readonly families: EventFamilies,
    private readonly events: EventReplay,
    private readonly clock: Clock,
  ) {}

  /**
   * Under the event's own id and first time of receipt. Throws `not_found`, `validation_failed` where there is nothing to
   * send, `source_not_allowed`, and `unavailable`; the entry then stays as it was.
   */
  async replay(caller: Principal, id: string, corrected: object | undefined): Promise<IngestResult> {
    const { tenantId, credentialId: by } = caller;
    const entry = await this.entries.get(tenantId, id);
    const found = replayable(entry, corrected);
    if ('faults' in found) {
      throw new DomainError('validation_failed', describeFaults(found.faults), { details: found.faults });
    }
    const at = this.clock.now().toISOString();
    const attempt: ReplayAttempt = {
      ...{ action: 'replayed', at, by },
      ...(corrected === undefined ? {} : { corrected: true }),
    };
    const checked = await this.families.check(entry.family, tenantId, found.sent);
    const receivedAt = entry.firstSeenAt.getTime();
    const result = await this.events.replay(caller, { checked, receivedAt, replay: { entryId: entry.id, attempt } });
    if (result.status === 'error') throwUnlessOfEvent(result);
    await this.resolutions.noteFailures(tenantId, failedReplay(entry.id, attempt, result));
    return result;
  }
}

/** What is wrong with the caller or with the moment is no outcome of the event. */
function throwUnlessOfEvent({ refusal: { code, message, details } }: Extract<IngestResult, { status: 'error' }>): void {
  if (code === 'unavailable') throw unavailable();
  if (code === 'source_not_allowed') throw new DomainError(code, message, { details });
}
