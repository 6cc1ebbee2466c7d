import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';

const CDS = join(__dirname, '..', '..', 'dist', 'cds.js');

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

export interface RunningCds {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

/** The command as it is built, with nothing in its environment but this. */
export function startCds(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  input: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array> = [],
): RunningCds {
  return startProgram(process.execPath, [CDS, ...args], environment, input);
}

export function runCds(...how: Parameters<typeof startCds>): Promise<Ran> {
  return startCds(...how).ended;
}

/** A script of bash, in which `$CDS` is the command: `$CDS events export | head`. */
export function runScript(environment: Readonly<Record<string, string>>, script: string): Promise<Ran> {
  return startProgram('bash', ['--norc', '-c', script], { ...environment, CDS: `${process.execPath} ${CDS}` }, [])
    .ended;
}

function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  input: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): RunningCds {
  const child = spawn(program, args, { env: { PATH: process.env['PATH'], ...environment } });
  // A killed process reads no further.
  pipeline(Readable.from(input, { objectMode: false }), child.stdin).catch(() => undefined);
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { child, ended: ended.then(([code, out, said]) => ({ code, out: out.trim(), said })) };
}
