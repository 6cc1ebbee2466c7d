import Table from 'cli-table3';
import type { Arena } from './arena';
import type { Fault } from './faults';
import { newJournal } from './journal';
import { startLoad } from './load';
import type { Random } from './random';
import { settle, tallyOf, violationsIn } from './verify';
import { makeWorld } from './world';

export interface Experiment {
  readonly what: string;
  readonly fault: Fault;
  /** How often the fault happens. */
  readonly times: number;
}

/** What became of an experiment. */
export interface Finding {
  readonly what: string;
  readonly faults: number;
  readonly tally: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly tookS: number;
  readonly violations: readonly string[];
}

/** Lets a fault happen so many times under load, in workspaces of its own, and holds what is left to every promise. */
export async function run(arena: Arena, random: Random, { what, fault, times }: Experiment): Promise<Finding> {
  const began = performance.now();
  const worlds = await Promise.all([makeWorld(arena), makeWorld(arena)]);
  const journal = newJournal();
  const actor = { arena, worlds, journal, random };
  const load = startLoad(actor);
  let faults = 0;
  try {
    for (let round = 0; round < times; round += 1) faults += await fault(arena, load, round);
    await load.progress(20);
  } finally {
    await load.stop();
  }
  await settle(actor);
  const violations = await violationsIn(arena, worlds, journal);
  const tookS = Math.round((performance.now() - began) / 1_000);
  return { what, faults, tally: tallyOf(journal), slowestMs: Math.round(journal.slowestMs), tookS, violations };
}

/** The findings as a table for people. */
export function tableOf(findings: readonly Finding[]): string {
  const counts = Object.keys(findings[0]?.tally ?? {});
  const table = new Table({
    head: ['experiment', 'faults', ...counts, 'slowest ms', 's', 'lost or wrong'],
    style: { head: [], border: [], compact: true },
  });
  for (const { what, faults, tally, slowestMs, tookS, violations } of findings) {
    table.push([what, faults, ...counts.map((name) => tally[name] ?? 0), slowestMs, tookS, violations.length]);
  }
  return table.toString();
}
