import type { Reading } from '../ingest/queue/event-queue';
import { ANY_EVENT_WRITER, ANY_EVENT_WRITER_ON_NODE } from '../ingest/store/event-writers';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';

/**
 * While events are stored, each turn of a backlog is followed by a pause of this share of its time, so that ingest
 * keeps its speed. While none are, there is no pause.
 */
const REST_SHARE = 0.5;
/** The pause is whole if events were stored in this share of the samples or more. */
const BUSY_SHARE = 0.5;
/** With the poll of a worker that has work, the last second or so. */
const SAMPLES_MAX = 8;

/**
 * How busy the database is with storing events, on any node: in which share of the last samples a transaction was
 * storing some. A service that stores as much as it can does so in nearly each sample.
 */
export class IngestLoad {
  /** Until the first samples, the database counts as busy. */
  private samples: readonly boolean[] = Array.from({ length: SAMPLES_MAX }, () => true);

  constructor(private readonly settings: Pick<ConnectionSettings, 'isDistributed'>) {}

  /** `read` answers a row of each server that has events. */
  async sample(read: Reading): Promise<void> {
    const statement = this.settings.isDistributed === true ? ANY_EVENT_WRITER_ON_NODE : ANY_EVENT_WRITER;
    const servers = await read<{ isWriting: boolean }>(statement, []);
    this.samples = [...this.samples.slice(1), servers.some(({ isWriting }) => isWriting)];
  }

  /** How long a worker rests after a turn, in milliseconds. */
  restMs(turnMs: number): number {
    return turnMs * REST_SHARE * Math.min(this.share / BUSY_SHARE, 1);
  }

  /** From 0 to 1. */
  get share(): number {
    return this.samples.filter(Boolean).length / SAMPLES_MAX;
  }
}
