import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { AnsweredEvents, type WatchedAnswer } from '../../ingest/answered-events';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { InvalidationFeed } from '../../platform/invalidation/invalidation-feed';
import { Clock } from '../../platform/values/clock';
import { ReviewService } from '../../review/review.service';
import { liveEvent, liveGroup } from './domain/live-event';
import { messagesOf } from './domain/live-message';
import { LiveSample } from './domain/live-sample';
import { LiveChannel } from './live-channel';

/** The kind of change by which a node announces that it has viewers of a workspace. */
export const VIEWERS_ANNOUNCED = 'live_viewers';
/** For how long an announcement holds. Nodes with viewers repeat it every 10 s. */
const ANNOUNCED_MS = 30_000;
const FLUSH_MS = 250;

interface Watched {
  readonly sample: LiveSample;
  untilMs: number;
}

/**
 * Passes on the answered events of this process, of the workspaces that some node has viewers of. Without viewers it does
 * nothing, not even in a timer.
 */
@Injectable()
export class LiveRecorder implements BeforeApplicationShutdown {
  private readonly watched = new Map<string, Watched>();
  private readonly outage = new OutageLog(new Logger(LiveRecorder.name), {
    began: 'Live events cannot be passed on now; they are not shown.',
    ended: 'Live events are passed on again.',
  });
  private timer: NodeJS.Timeout | undefined;
  private sending = false;
  private closed = false;

  constructor(
    private readonly answered: AnsweredEvents,
    private readonly review: ReviewService,
    private readonly channel: LiveChannel,
    private readonly clock: Clock,
    feed: InvalidationFeed,
  ) {
    // Here and not in a hook: the first poll of the feed sees the announcements of the last minute.
    feed.onChange(VIEWERS_ANNOUNCED, (tenantId) => this.watch(tenantId));
  }

  beforeApplicationShutdown(): void {
    this.closed = true;
    clearInterval(this.timer);
    for (const tenantId of this.watched.keys()) this.answered.unwatch(tenantId);
  }

  private watch(tenantId: string): void {
    if (this.closed) return;
    const untilMs = this.clock.monotonicMs() + ANNOUNCED_MS;
    const known = this.watched.get(tenantId);
    if (known !== undefined) {
      known.untilMs = untilMs;
      return;
    }
    const sample = new LiveSample();
    this.watched.set(tenantId, { sample, untilMs });
    this.answered.watch(tenantId, (answer) => this.note(sample, answer));
    this.timer ??= setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  private note(sample: LiveSample, answer: WatchedAnswer): void {
    const group = liveGroup(answer);
    sample.add(group, () => liveEvent(answer, group, this.clock.now(), this.entryIdOf(answer)));
  }

  private entryIdOf({ reviewed, result }: WatchedAnswer): string | undefined {
    if (reviewed === undefined || result.status !== 'error') return undefined;
    if (typeof reviewed === 'object') return reviewed.entryId;
    const problem = reviewed();
    return problem === undefined ? undefined : this.review.entryIdOf(problem);
  }

  /** While the database is slow, events are collected and counted on; memory stays bounded. */
  private async flush(): Promise<void> {
    this.unwatchExpired();
    if (this.sending) return;
    const messages = [...this.watched].flatMap(([tenantId, { sample }]) => {
      const bundle = sample.take();
      return bundle === undefined ? [] : messagesOf(tenantId, bundle);
    });
    if (messages.length === 0) return;
    this.sending = true;
    try {
      await this.channel.send(messages);
      this.outage.succeeded();
    } catch (error) {
      if (!this.closed) this.outage.failed(describeError(error).line);
    } finally {
      this.sending = false;
    }
  }

  private unwatchExpired(): void {
    const now = this.clock.monotonicMs();
    for (const [tenantId, { untilMs }] of this.watched) {
      if (untilMs > now) continue;
      this.watched.delete(tenantId);
      this.answered.unwatch(tenantId);
    }
    if (this.watched.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
