import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a program with Node.js in a folder and answers what it has written; a failure carries that too. */
export async function runNode(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  try {
    const { stdout } = await run(process.execPath, [...args], { cwd, env: { PATH: process.env['PATH'], ...env } });
    return stdout;
  } catch (failure) {
    const { stdout = '', stderr = '' } = failure as { stdout?: string; stderr?: string };
    throw new Error(`node ${args.join(' ')} failed: ${stdout}${stderr}`, { cause: failure });
  }
}
