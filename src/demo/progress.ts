import { progressBar } from '../cli/progress-bar';

export interface Progress {
  readonly update: (done: number) => void;
  readonly stop: () => void;
}

/** Shows how far one pass over `total` events has come. */
export type StartProgress = (label: string, total: number) => Progress;

/** For output that is no terminal. */
export const noProgress: StartProgress = () => ({ update: () => undefined, stop: () => undefined });

/** A bar with the rate and the remaining time; nothing at all when `stream` is no terminal. */
export function progressOn(stream: NodeJS.WriteStream): StartProgress {
  return stream.isTTY ? (label, total) => startBar(stream, label, total) : noProgress;
}

function startBar(stream: NodeJS.WriteStream, label: string, total: number): Progress {
  const format = '{label} {bar} {value}/{total} events | {rate}/s | {eta_formatted} left';
  const bar = progressBar(stream, format);
  const began = performance.now();
  bar.start(total, 0, { label: label.padEnd('second run'.length), rate: '-' });
  return {
    update: (done) => bar.update(done, { rate: Math.round((done * 1_000) / (performance.now() - began)) }),
    stop: () => bar.stop(),
  };
}
