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
  const child = spawn(process.execPath, [CDS, ...args], { env: { PATH: process.env['PATH'], ...environment } });
  // A killed process reads no further.
  pipeline(Readable.from(input, { objectMode: false }), child.stdin).catch(() => undefined);
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { child, ended: ended.then(([code, out, said]) => ({ code, out: out.trim(), said })) };
}

export function runCds(...how: Parameters<typeof startCds>): Promise<Ran> {
  return startCds(...how).ended;
}
