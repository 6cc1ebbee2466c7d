import { progressBar } from '../progress-bar';

/** How far a backfill has come. */
export interface BackfillStanding {
  /** Null until the events are counted. */
  readonly total: number | null;
  readonly scanned: number;
  readonly applied: number;
  readonly failed: number;
}

export interface ShownBackfill {
  update(standing: BackfillStanding): void;
  stop(): void;
}

export type StartBackfillBar = () => ShownBackfill;

const LINE_MS = 10_000;
const NUMBER = new Intl.NumberFormat('en-US');

export const noBackfillProgress: StartBackfillBar = () => ({ update: () => undefined, stop: () => undefined });

/** A bar; on what is no terminal a line every 10 s. */
export function backfillProgressOn(stream: NodeJS.WriteStream): StartBackfillBar {
  return () => (stream.isTTY ? startBar(stream) : startLines(stream));
}

function startBar(stream: NodeJS.WriteStream): ShownBackfill {
  const bar = progressBar(stream, '{bar} {percentage}% | {events} | {applied} applied | {failed} failed');
  const payload = (standing: BackfillStanding): object => ({
    events: eventsOf(standing),
    applied: NUMBER.format(standing.applied),
    failed: NUMBER.format(standing.failed),
  });
  bar.start(1, 0, payload({ total: null, scanned: 0, applied: 0, failed: 0 }));
  return {
    update: (standing) => {
      bar.setTotal(Math.max(standing.total ?? 1, 1));
      bar.update(standing.total === 0 ? 1 : standing.scanned, payload(standing));
    },
    stop: () => bar.stop(),
  };
}

function startLines(stream: NodeJS.WriteStream): ShownBackfill {
  let shownAt = performance.now();
  return {
    update: (standing) => {
      if (performance.now() - shownAt < LINE_MS) return;
      shownAt = performance.now();
      const { applied, failed } = standing;
      stream.write(`${eventsOf(standing)}, ${NUMBER.format(applied)} applied, ${NUMBER.format(failed)} failed\n`);
    },
    stop: () => undefined,
  };
}

function eventsOf({ total, scanned }: BackfillStanding): string {
  return total === null ? 'counting events' : `${NUMBER.format(scanned)} of ${NUMBER.format(total)} events`;
}
