import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '..', '..');
/** As the documents name it. */
const SERVICE_URL = 'http://127.0.0.1:3000';
const RUN_MS_MAX = 20_000;
const LEFT_OUT = '…';

const run = promisify(execFile);

/** Commands as a document shows them, and the answer that it shows below. */
export interface DocumentedBlock {
  readonly section: string;
  readonly commands: string;
  /** JSON, with `…` for what differs or is left out; undefined: the document shows none. */
  readonly answer?: string;
}

/** The text below a heading of the first or second order, up to the next. */
export function sectionOf(document: string, heading: string): string {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const section = text.split(/^##? /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${document} has no section "${heading}"`);
  return section.slice(heading.length);
}

/** The shell blocks of sections, in their order, each with the JSON block between it and the next one. */
export function blocksOf(document: string, headings: readonly string[]): readonly DocumentedBlock[] {
  return headings.flatMap((section) => {
    const fences = [...sectionOf(document, section).matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
    return fences.flatMap(([, language, commands = ''], index): DocumentedBlock[] => {
      const [, nextLanguage, answer = ''] = fences[index + 1] ?? [];
      if (language !== 'sh') return [];
      return [{ section, commands, ...(nextLanguage === 'json' && { answer }) }];
    });
  });
}

/** What a reader has in front of him: a shell that keeps its variables and functions, and a folder. */
export class ReadersShell {
  private readonly folder = mkdtempSync(join(tmpdir(), 'documented-'));
  private readonly memory = join(this.folder, '.memory');

  constructor(
    private readonly url: string,
    private readonly key: string,
    /** For `npm run cds`. */
    private readonly environment: Readonly<Record<string, string>>,
  ) {
    writeFileSync(this.memory, '');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Runs commands, and answers what each that writes something has written, a line each. Stops at the first that fails. */
  async run(commands: string): Promise<readonly string[]> {
    const script = [
      `. ${this.memory}`,
      // Answers have no line end of their own.
      'curl() { command curl -sS "$@"; echo; }',
      `npm() { while [ "$1" != -- ]; do shift; done; shift; "${process.execPath}" "${ROOT}/dist/cds.js" "$@"; }`,
      'set -a',
      commands.replaceAll(SERVICE_URL, this.url).replaceAll('cds_…', this.key),
      `{ export -p; declare -f; } > ${this.memory}`,
    ].join('\n');
    const env = { PATH: `${join(process.execPath, '..')}:${process.env['PATH']}`, KEY: this.key, ...this.environment };
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: this.folder,
      env,
      timeout: RUN_MS_MAX,
    });
    return stdout.split('\n').filter((line) => line !== '');
  }

  /**
   * Runs a block, and holds it to its answer; without one, to not being refused. There is no second look: a reader has none
   * either, and what comes later the document waits for.
   */
  async follow({ section, commands, answer }: DocumentedBlock): Promise<void> {
    const written = await this.run(commands);
    const refused = written.slice(0, answer === undefined ? undefined : -1).filter((line) => /"error_code"/.test(line));
    if (refused.length > 0) throw new Error(`In "${section}" this is refused:\n${commands}\n${refused.join('\n')}`);
    if (answer === undefined) return;
    const expected = expectedOf(answer);
    if (!matches(JSON.parse(written.at(-1) ?? 'null'), expected)) {
      throw new Error(
        `In "${section}":\n${commands}\nthe document shows\n${answer}\nand the service says\n${written.at(-1)}`,
      );
    }
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** The JSON that a document shows; its `…` outside of text become the field, entry or value `…`. */
function expectedOf(answer: string): unknown {
  const json = answer.replaceAll(/"(?:[^"\\]|\\.)*"|…(\s*\})?/g, (token, brace: string | undefined) => {
    if (token.startsWith('"')) return token;
    return brace === undefined ? `"${LEFT_OUT}"` : `"${LEFT_OUT}":"${LEFT_OUT}"${brace}`;
  });
  return JSON.parse(json);
}

/** Whether an answer is what a document shows: `…` is any value, or a part of text; as a field, all further fields. */
function matches(actual: unknown, expected: unknown): boolean {
  if (typeof expected === 'string' && expected.includes(LEFT_OUT)) return matchesText(actual, expected);
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null) {
    return actual === expected;
  }
  if (Array.isArray(expected) !== Array.isArray(actual)) return false;
  const [shown, given] = [new Map(Object.entries(expected)), new Map(Object.entries(actual))];
  const isWhole = shown.delete(LEFT_OUT) || shown.size === given.size;
  return isWhole && [...shown].every(([name, value]) => given.has(name) && matches(given.get(name), value));
}

function matchesText(actual: unknown, expected: string): boolean {
  if (expected === LEFT_OUT) return actual !== null;
  const parts = expected.split(LEFT_OUT).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return typeof actual === 'string' && new RegExp(`^${parts.join('.+')}$`, 's').test(actual);
}
