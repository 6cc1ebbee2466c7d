import { progressBar, timeLeft } from '../../progress-bar';
import type { EventRange } from './export-options';

/** How far an export has come. */
export interface ExportStanding {
  readonly rows: number;
  /** Of the last event; undefined before the first one. */
  readonly receivedAt: string | undefined;
  /** What the service is waited for, if it is. */
  readonly trouble: string | undefined;
}

export interface ExportProgress {
  stop(): void;
}

export type StartExportProgress = (range: EventRange, standing: () => ExportStanding) => ExportProgress;

const BAR_MS = 200;
const LINE_MS = 10_000;
const NUMBER = new Intl.NumberFormat('en-US');

export const noExportProgress: StartExportProgress = () => ({ stop: () => undefined });

/** A bar over the range of times, with the rate; on what is no terminal a line every 10 s. */
export function exportProgressOn(stream: NodeJS.WriteStream): StartExportProgress {
  return (range, standing) => {
    const look = timed(range, standing);
    return stream.isTTY ? startBar(stream, look) : every(LINE_MS, () => stream.write(`${wordsOf(look(), '; ')}\n`));
  };
}

function startBar(stream: NodeJS.WriteStream, look: () => TimedStanding): ExportProgress {
  const bar = progressBar(stream, '{bar} {percentage}% | {words}');
  bar.start(1, 0, { words: '' });
  const ticking = every(BAR_MS, () => {
    const now = look();
    bar.update(now.share, { words: wordsOf(now, ' | ') });
  });
  return {
    stop: () => {
      ticking.stop();
      bar.stop();
    },
  };
}

interface TimedStanding extends ExportStanding {
  readonly rate: number;
  /** Of the range of times, 0 to 1. */
  readonly share: number;
  readonly left: string;
}

/** The rate and the time left are those of this run. Events may be spread unevenly over the range, so the latter is a guess. */
function timed({ from, to }: EventRange, standing: () => ExportStanding): () => TimedStanding {
  const began = performance.now();
  const { rows: rowsBefore } = standing();
  const end = Date.parse(to);
  let start = from === undefined ? undefined : Date.parse(from);
  let startOfRun: number | undefined;
  return () => {
    const now = standing();
    const seconds = (performance.now() - began) / 1_000;
    const at = now.receivedAt === undefined ? undefined : Date.parse(now.receivedAt);
    start ??= at;
    startOfRun ??= at;
    const share = at === undefined || start === undefined ? 0 : (at - start) / Math.max(end - start, 1);
    const left = at === undefined || startOfRun === undefined ? '?' : timeLeft(at - startOfRun, end - at, seconds);
    return { ...now, rate: Math.round((now.rows - rowsBefore) / seconds), share, left };
  };
}

function wordsOf({ rows, rate, left, receivedAt, trouble }: TimedStanding, separator: string): string {
  return [
    `${NUMBER.format(rows)} rows`,
    `${NUMBER.format(rate)}/s`,
    ...(receivedAt === undefined ? [] : [`up to ${receivedAt}`]),
    `${left} left`,
    ...(trouble === undefined ? [] : [`waiting: the service ${trouble}`]),
  ].join(separator);
}

function every(ms: number, show: () => void): ExportProgress {
  const timer = setInterval(show, ms);
  return { stop: () => clearInterval(timer) };
}
