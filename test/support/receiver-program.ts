import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sectionOf } from './documented-commands';
import { runNode } from './run-node';
import { until } from './until';

const ROOT = join(__dirname, '..', '..');

/** A project of a reader: it has Express and the typed client, as npm would install them. */
export class ReceiverProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'receivers-'));

  async install(): Promise<void> {
    const client = join(this.folder, 'node_modules', '@campaign-data-service', 'client');
    mkdirSync(client, { recursive: true });
    cpSync(join(ROOT, 'clients', 'typescript', 'package.json'), join(client, 'package.json'));
    await runNode(ROOT, ['scripts/build-client.mjs', join(client, 'dist')]);
    symlinkSync(join(ROOT, 'node_modules', 'express'), join(this.folder, 'node_modules', 'express'));
  }

  /** Starts a program, and returns when it answers. */
  async start(
    { language, text }: DocumentedProgram,
    environment: Readonly<Record<string, string>>,
  ): Promise<RunningProgram> {
    const [program, file] = language === 'js' ? [process.execPath, 'receiver.mjs'] : ['python3', 'receiver.py'];
    writeFileSync(join(this.folder, file), text);
    const child = spawn(program, [file], { cwd: this.folder, env: { PATH: process.env['PATH'], ...environment } });
    let [written, complaints] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    const exited = once(child, 'exit').catch(() => undefined);
    const url = `http://127.0.0.1:${environment['PORT']}/hooks`;
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${complaints}`);
      return fetch(url, { method: 'POST', body: '{}' }).then(
        ({ status }) => status === 401,
        () => false,
      );
    });
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      await exited;
    };
    return { lines: () => written.split('\n').filter((line) => line !== ''), stop };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

export interface RunningProgram {
  /** What it has written so far. */
  readonly lines: () => readonly string[];
  /** kill -9. */
  readonly stop: () => Promise<void>;
}

export interface DocumentedProgram {
  readonly language: string;
  readonly text: string;
}

/** The programs of a section, in their order. */
export function programsOf(document: string, heading: string): readonly DocumentedProgram[] {
  const fences = [...sectionOf(document, heading).matchAll(/^```(js|py)\n([^]*?)^```$/gm)];
  return fences.map(([, language = '', text = '']) => ({ language, text }));
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
