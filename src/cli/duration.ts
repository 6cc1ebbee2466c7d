import { InvalidArgumentError } from 'commander';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The seconds of `90s`, `15m`, `12h` or `30d`, at most `daysMax` days. */
export function secondsUpTo(daysMax: number): (text: string) => number {
  return (text) => {
    const [, count, unit] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
    const value = Number(count) * (SECONDS_OF[unit || 's'] ?? Number.NaN);
    if (value >= 1 && value <= daysMax * 86_400) return value;
    throw new InvalidArgumentError(`It must be a number with s, m, h or d behind it, from 1s to ${daysMax}d.`);
  };
}
