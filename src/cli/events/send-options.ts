import { basename, resolve } from 'node:path';
import type { Family } from './family';
import { ClientFailure } from '../running-service';
import { readServiceOptions, type Environment, type GivenService, type ServiceOptions } from '../service-options';

/** The options of the command line, as commander gives them. */
export interface GivenOptions extends GivenService {
  readonly family?: Family;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly retryFor: number;
  readonly dryRun?: true;
  readonly errors?: string;
  readonly state?: string;
  readonly restart?: true;
  readonly progress: boolean;
  readonly json?: true;
}

/** What is sent, where to, and how. */
export interface SendOptions extends ServiceOptions {
  readonly path: string;
  readonly family: Family | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly retryForMs: number;
  readonly dryRun: boolean;
  readonly errorsPath: string;
  /** Undefined: the caller named none. */
  readonly statePath: string | undefined;
  readonly restart: boolean;
}

/** Throws `ClientFailure` (exit code 2) for invalid options. */
export async function readSendOptions(
  path: string,
  given: GivenOptions,
  environment: Environment,
): Promise<SendOptions> {
  const service = await readServiceOptions(given, environment, { command: 'events send', may: 'send these events' });
  const errorsPath = given.errors ?? `${stemOf(path)}${given.dryRun ? '.dry-run' : ''}.errors.ndjson`;
  keepApart(path, errorsPath, given.state ?? defaultStatePath(path));
  return {
    ...service,
    path,
    family: given.family,
    batchSize: given.batchSize,
    concurrency: given.concurrency,
    retryForMs: given.retryFor * 1_000,
    dryRun: given.dryRun ?? false,
    errorsPath: resolve(errorsPath),
    statePath: given.state,
    restart: given.restart ?? false,
  };
}

/** Where the state of a run goes unless `--state` says so: beside the file. */
export function defaultStatePath(path: string): string {
  return `${stemOf(path)}.state.json`;
}

/** Standard input has no folder to write to; pipes of the shell (`<(…)`) have none that takes files. */
function stemOf(path: string): string {
  if (path === '-') return 'stdin';
  return /^\/(dev|proc)\//.test(path) ? `input-${basename(path)}` : path;
}

/** A path that is given twice would overwrite the input. */
function keepApart(...paths: readonly string[]): void {
  if (new Set(paths.map((path) => resolve(path))).size === paths.length) return;
  throw new ClientFailure('FILE, --errors and --state must be three different files.', 2);
}
