import type { ServerResponse } from 'node:http';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ClientGone } from '../../platform/errors/client-gone';
import { DomainError } from '../../platform/errors/domain-error';
import { describeError } from '../../platform/errors/error-summary';
import { OutageLog } from '../../platform/errors/outage-log';
import { unavailable } from '../../platform/errors/unavailable';
import { InvalidationFeed } from '../../platform/invalidation/invalidation-feed';
import { bundleIn } from './domain/live-message';
import { LiveChannel } from './live-channel';
import { VIEWERS_ANNOUNCED } from './live-recorder';
import { LiveViewer, type LiveAccess, type LiveEnd, type LiveRights } from './live-viewer';

/** Of one process. Each viewer gets every event of its workspace, up to the limits of the sample. */
export const VIEWERS_MAX = 100;
/** Of one workspace and process; one workspace cannot use up the viewers of the others. */
export const WORKSPACE_VIEWERS_MAX = 20;
const FLUSH_MS = 250;
/** A stream ends within a second of its session or key. */
const CHECK_MS = 500;
const BEAT_MS = 15_000;
/** A third of the time for which an announcement holds. */
const ANNOUNCE_MS = 10_000;
const RETRY_SECONDS = 10;

/** The open streams of this process. Timers and the listening connection exist only while there are any. */
@Injectable()
export class LiveViewers implements BeforeApplicationShutdown {
  private readonly viewers = new Set<LiveViewer>();
  private readonly outage = new OutageLog(new Logger(LiveViewers.name), {
    began: 'Viewers of live events cannot be announced to other processes now.',
    ended: 'Viewers of live events are announced again.',
  });
  private timers: readonly NodeJS.Timeout[] = [];
  private closed = false;

  constructor(
    private readonly database: DataSource,
    private readonly feed: InvalidationFeed,
    private readonly channel: LiveChannel,
  ) {}

  /**
   * Opens a stream. Once it is open, it gets every event that this process answers, and from 300 ms later on those of the
   * others. Throws `unavailable`, and `ClientGone` when the client has left.
   */
  async open(access: LiveAccess, rights: LiveRights, response: ServerResponse): Promise<void> {
    // It may close while the session is looked up. No further 'close' would remove the viewer.
    if (response.closed) throw new ClientGone();
    this.assertMayOpen(access.tenantId);
    const viewer = new LiveViewer(access, response);
    this.viewers.add(viewer);
    response.once('close', () => this.close(viewer));
    try {
      this.startTimers();
      await this.channel.listen((message) => this.receive(message));
      await this.announce(access.tenantId);
    } catch (error) {
      this.close(viewer);
      throw unavailable(error).ofRead();
    }
    if (this.viewers.has(viewer)) viewer.open(rights);
    else if (!response.destroyed) throw unavailable().ofRead();
  }

  /** Ends all streams, and opens no further ones: a stop must not wait for them. */
  stop(): void {
    this.closed = true;
    for (const viewer of this.viewers) this.end(viewer, 'stopping');
  }

  beforeApplicationShutdown(): void {
    this.stop();
  }

  private assertMayOpen(tenantId: string): void {
    if (this.closed) throw unavailable().ofRead();
    const ofWorkspace = [...this.viewers].filter(({ access }) => access.tenantId === tenantId).length;
    if (ofWorkspace >= WORKSPACE_VIEWERS_MAX) {
      const message =
        `This workspace has ${WORKSPACE_VIEWERS_MAX} open views of live events, as many as one process serves. ` +
        'Close one of them and try again.';
      // Not `rate_limited`: the limit is of open views, and not of how often they are opened.
      throw new DomainError('unavailable', message, { retryAfterSeconds: RETRY_SECONDS });
    }
    if (this.viewers.size < VIEWERS_MAX) return;
    const message = `This process serves ${VIEWERS_MAX} views of live events, which is its limit. Try again later.`;
    throw new DomainError('unavailable', message, { retryAfterSeconds: RETRY_SECONDS });
  }

  private receive(text: string): void {
    const bundle = bundleIn(text);
    if (bundle === undefined) return;
    for (const viewer of this.viewers) if (viewer.access.tenantId === bundle.tenantId) viewer.take(bundle);
  }

  private async announce(tenantId: string): Promise<void> {
    const subject = { tenantId, kind: VIEWERS_ANNOUNCED, id: 'all' };
    await this.feed.announce(this.database.manager, subject);
    this.feed.forget(subject);
  }

  private async announceAll(): Promise<void> {
    try {
      const tenantIds = new Set([...this.viewers].map(({ access }) => access.tenantId));
      for (const tenantId of tenantIds) await this.announce(tenantId);
      this.outage.succeeded();
    } catch (error) {
      if (!this.closed) this.outage.failed(describeError(error).line);
    }
  }

  private startTimers(): void {
    if (this.timers.length > 0) return;
    this.timers = [
      setInterval(() => this.each((viewer) => viewer.flush()), FLUSH_MS).unref(),
      setInterval(() => this.each((viewer) => void this.check(viewer)), CHECK_MS).unref(),
      setInterval(() => this.each((viewer) => viewer.beat()), BEAT_MS).unref(),
      setInterval(() => void this.announceAll(), ANNOUNCE_MS).unref(),
    ];
  }

  private each(step: (viewer: LiveViewer) => void): void {
    for (const viewer of this.viewers) step(viewer);
  }

  private async check(viewer: LiveViewer): Promise<void> {
    const end = await viewer.findEnd();
    if (end !== undefined) this.end(viewer, end);
  }

  private end(viewer: LiveViewer, reason: LiveEnd): void {
    viewer.end(reason);
    this.close(viewer);
  }

  private close(viewer: LiveViewer): void {
    this.viewers.delete(viewer);
    if (this.viewers.size > 0) return;
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
    this.channel.unlisten();
  }
}
