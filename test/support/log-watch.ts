import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every service under test writes its log, at its most talkative, into one folder, and every client notes there what no
 * log may hold: the credentials it used, and the texts in the identities and properties it sent. When all tests are over,
 * the two are held against each other (contract section 1).
 */
const FOLDER = 'TEST_LOG_FOLDER';
/** Shorter texts are words such as `USD`, which a log line may hold for another reason. */
const CHARACTERS_MIN = 8;
/** Texts of hostile bodies can be megabytes; their beginning is as telling. */
const CHARACTERS_MAX = 120;
/** Of one request; the thousandth item of a batch goes the way of the first. */
const TEXTS_MAX = 60;
/** Tests send these as identities that are none; V8 writes them into the messages and stacks of errors. */
const NOT_IDENTITIES = new Set(['undefined', 'anonymous']);
const KEPT_OBJECTS = /^(?:identity|attributes|properties)$/;

const noted = new Set<string>();

export function watchLogsIn(folder: string): void {
  process.env[FOLDER] = folder;
}

/** Where a service under test is to write its log; undefined outside a test run. */
export function logFile(): string | undefined {
  const folder = process.env[FOLDER];
  return folder === undefined ? undefined : join(folder, `${process.pid}.log`);
}

/** Notes what a request holds that no log line may hold. */
export function noteSecrets(credential: string | undefined, body: string | Uint8Array | undefined): void {
  const folder = process.env[FOLDER];
  if (folder === undefined) return;
  const texts = typeof body === 'string' ? personalTexts(body) : [];
  const fresh = [...(credential === undefined ? [] : [credential]), ...texts]
    .map((text) => text.slice(0, CHARACTERS_MAX))
    .filter((text) => text.length >= CHARACTERS_MIN && !NOT_IDENTITIES.has(text) && !noted.has(text));
  if (fresh.length === 0) return;
  for (const text of fresh) noted.add(text);
  appendFileSync(join(folder, `${process.pid}.secrets`), fresh.map((text) => `${JSON.stringify(text)}\n`).join(''));
}

function personalTexts(body: string): string[] {
  const texts: string[] = [];
  const collect = (value: unknown, kept: boolean): void => {
    if (typeof value === 'string' && kept) texts.push(value);
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      if (texts.length >= TEXTS_MAX) return;
      if (key !== 'type') collect((value as Record<string, unknown>)[key], kept || KEPT_OBJECTS.test(key));
    }
  };
  try {
    collect(JSON.parse(body), false);
  } catch {
    // No JSON, or nested too deeply to be walked: other tests check the answers to such bodies.
  }
  return texts;
}

/** The secrets of the run that stand in its logs. */
export function leaks(folder: string): { readonly lines: number; readonly secrets: number; readonly found: string[] } {
  const files = readdirSync(folder);
  const read = (ending: string): string[] =>
    files
      .filter((file) => file.endsWith(ending))
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  const lines = read('.log').filter((line) => line !== '');
  const secrets = new Set(
    read('.secrets')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as string),
  );
  // Most lines are the same but for their time, and JSON writes some characters in another way.
  const log = [...new Set(lines.map((line) => line.replace(/"time":"[^"]*"/, '')))].join('\n');
  const written = new Map([...secrets].flatMap((secret) => [secret, inJson(secret)].map((text) => [text, secret])));
  const found = textsIn(log, [...written.keys()]).map((text) => written.get(text)!);
  return { lines: lines.length, secrets: secrets.size, found: [...new Set(found)] };
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Those of many texts that stand in a long one. Reads it once: a search for each text took half a minute. */
function textsIn(long: string, texts: readonly string[]): string[] {
  const byBeginning = new Map<string, string[]>();
  for (const text of texts) {
    const beginning = text.slice(0, CHARACTERS_MIN);
    byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), text]);
  }
  const found = new Set<string>();
  for (let at = 0; at + CHARACTERS_MIN <= long.length; at += 1) {
    for (const text of byBeginning.get(long.slice(at, at + CHARACTERS_MIN)) ?? []) {
      if (long.startsWith(text, at)) found.add(text);
    }
  }
  return [...found];
}
