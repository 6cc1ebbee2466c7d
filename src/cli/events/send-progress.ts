import { progressBar, timeLeft } from '../progress-bar';

/** How far sending has come. */
export interface Standing {
  /** Of the file as it lies there. */
  readonly bytesRead: number;
  readonly lines: number;
  readonly errors: number;
  /** What the service is waited for, if it is. */
  readonly trouble: string | undefined;
}

export interface SendProgress {
  stop(): void;
}

export type StartSendProgress = (totalBytes: number | undefined, standing: () => Standing) => SendProgress;

const BAR_MS = 200;
const LINE_MS = 10_000;
const NUMBER = new Intl.NumberFormat('en-US');

export const noSendProgress: StartSendProgress = () => ({ stop: () => undefined });

/** A bar with the rate and the remaining time; on what is no terminal a line every 10 s. */
export function sendProgressOn(stream: NodeJS.WriteStream): StartSendProgress {
  return (totalBytes, standing) =>
    stream.isTTY && totalBytes !== undefined
      ? startBar(stream, totalBytes, standing)
      : every(LINE_MS, standing, (now) => stream.write(`${words(now, totalBytes)}\n`));
}

function startBar(stream: NodeJS.WriteStream, totalBytes: number, standing: () => Standing): SendProgress {
  const format = '{bar} {percentage}% | {lines} lines | {rate}/s | {left} left | {errors} errors{trouble}';
  const bar = progressBar(stream, format);
  const payload = (now: Timed): object => ({
    lines: NUMBER.format(now.lines),
    errors: NUMBER.format(now.errors),
    rate: NUMBER.format(now.rate),
    left: remaining(now, totalBytes),
    trouble: troubleOf(now),
  });
  const first = { ...standing(), rate: 0, seconds: 0, bytesSince: 0 };
  bar.start(Math.max(totalBytes, 1), first.bytesRead, payload(first));
  const ticking = every(BAR_MS, standing, (now) => bar.update(now.bytesRead, payload(now)));
  return {
    stop: () => {
      ticking.stop();
      bar.stop();
    },
  };
}

/** Since this run began. */
type Timed = Standing & { readonly rate: number; readonly seconds: number; readonly bytesSince: number };

function every(ms: number, standing: () => Standing, show: (now: Timed) => void): SendProgress {
  const began = performance.now();
  const { lines, bytesRead } = standing();
  const timer = setInterval(() => {
    const now = standing();
    const seconds = (performance.now() - began) / 1_000;
    show({
      ...now,
      seconds,
      rate: Math.round((now.lines - lines) / seconds),
      bytesSince: now.bytesRead - bytesRead,
    });
  }, ms);
  return { stop: () => clearInterval(timer) };
}

function words(now: Timed, totalBytes: number | undefined): string {
  const done = `${NUMBER.format(now.lines)} lines, ${NUMBER.format(now.errors)} errors, ${NUMBER.format(now.rate)}/s`;
  if (totalBytes === undefined) return `${done}${troubleOf(now)}`;
  const percentage = Math.floor((100 * now.bytesRead) / Math.max(totalBytes, 1));
  return `${percentage}%: ${done}, ${remaining(now, totalBytes)} left${troubleOf(now)}`;
}

function remaining({ bytesRead, bytesSince, seconds }: Timed, totalBytes: number): string {
  return timeLeft(bytesSince, totalBytes - bytesRead, seconds);
}

function troubleOf({ trouble }: Standing): string {
  return trouble === undefined ? '' : ` | waiting: the service ${trouble}`;
}
