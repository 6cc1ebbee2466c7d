import type { INestApplicationContext } from '@nestjs/common';
import { InvalidArgumentError } from 'commander';
import type { Settings } from '../platform/config/settings';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';

/**
 * What a command writes to, and how it reaches the service and the database. Commands load the parts of the service when they
 * need them (`import()`): a command that is a client of a running service starts in a tenth of the time without them.
 */
export interface Console {
  /** What was asked for, and nothing else, so that scripts can take it. */
  readonly out: (text: string) => void;
  /** Words for people. */
  readonly say: (words: string) => void;
  /** Runs work with the parts of the service. */
  readonly within: <Result>(work: (parts: INestApplicationContext) => Promise<Result>) => Promise<Result>;
  /** The same for work that changes nothing: fails where there are no data or migrations are pending, and makes neither. */
  readonly withinMigrated: Console['within'];
  /** Runs work on a database that is there: nothing is made or migrated, and the service's key is not asked for. */
  readonly onDatabase: <Result>(
    work: (database: ConnectionSettings, settings: Settings) => Promise<Result>,
  ) => Promise<Result>;
}

/** Rows below their names, each column as wide as its widest text; the last one is not padded. */
export function columns(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = names.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [names, ...rows]
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

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

/** A whole number from 1 to `max`. */
export function countUpTo(max: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}
