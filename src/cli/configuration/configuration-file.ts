import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { Document, isNode, isMap, LineCounter, parseDocument, visit, type Pair, type Scalar } from 'yaml';
import type { Fault } from '../../platform/errors/fault';
import { similarName } from '../../platform/values/text/similar-name';
import { isObject } from '../../platform/values/json/json-values';
import { isKept } from '../../platform/values/json/parse-exactly';
import { readFailure } from '../file-failures';
import { fieldsOf, readable } from '../foreign-data';
import { ClientFailure } from '../running-service';
import { CONFIGURATION_BYTES_MAX, tooLarge } from './byte-budget';
import { KIND_NAMES, type ConfigurationEntry, type KindName } from './configuration-kind';

/** The version of the format of the file. */
const FORMAT_VERSION = 1;
/** Many faults have few causes. */
const FAULTS_SHOWN_MAX = 50;

/** More than any configuration has. */
const LEVELS_MAX = 100;

/** In the place of words of the parser that are meant for programs. */
const PARSER_WORDS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'A file of configuration is one document; remove what follows "---", or make it a file of its own.',
  RESOURCE_EXHAUSTION: 'This is nested too deeply. No configuration has more than 64 levels.',
};

/** Where editors find the schema, beside the file; `cds export --schema` writes it. */
export const SCHEMA_FILE = 'configuration.schema.json';

const HEADER = `# yaml-language-server: $schema=${SCHEMA_FILE}
# The schema is written by: cds export --schema > ${SCHEMA_FILE}
`;

type PathSegment = string | number;

/** A fault with the place of its field in the file. */
export interface FileFault {
  readonly at: readonly PathSegment[];
  readonly code: string;
  readonly message: string;
}

/** A file of configuration. The entries are not checked yet. */
export class ConfigurationFile {
  private constructor(
    private readonly name: string,
    private readonly document: Document.Parsed,
    private readonly lines: LineCounter,
    /** The entries of the kinds that the file names. */
    readonly entries: ReadonlyMap<KindName, readonly ConfigurationEntry[]>,
    /** What is wrong around the entries, and with numbers in them. */
    readonly faults: readonly FileFault[],
  ) {}

  /** Throws `ClientFailure` with line and column of what keeps it from being read: no YAML, no map, another version. */
  static parse(name: string, text: string): ConfigurationFile {
    const lines = new LineCounter();
    const document = documentOf(name, text, lines);
    const problems = [...document.errors, ...document.warnings].map(({ pos, code, message }) => {
      const { line, col } = lines.linePos(pos[0]);
      return `${name}:${line}:${col}: ${PARSER_WORDS[code] ?? firstLine(message)}`;
    });
    if (problems.length > 0) throw failureOf(problems);
    const value = valueOf(document, name);
    const entries = new Map<KindName, readonly ConfigurationEntry[]>();
    const fields = fieldsOf(value);
    const { version: _version, ...kinds } = fields;
    const faults = Object.entries(kinds).flatMap(([kind, found]) => kindFaults(kind, found));
    const file = new ConfigurationFile(name, document, lines, entries, [...faults, ...numberFaults(value)]);
    file.refuse(formatFaults(value));
    for (const kind of KIND_NAMES) {
      const found = fields[kind];
      // `variables:` with nothing behind it names the kind, and no record.
      if (kind in fields) entries.set(kind, kind === 'retention' ? (isObject(found) ? [found] : []) : entriesIn(found));
    }
    return file;
  }

  /** The place of an entry. */
  placeOf(kind: KindName, index: number): readonly PathSegment[] {
    return kind === 'retention' ? [kind] : [kind, index];
  }

  /** The faults of an entry, with their places. A number is at fault once. */
  faultsAt(place: readonly PathSegment[], faults: readonly Fault[]): FileFault[] {
    const known = new Set(this.faults.map(({ at }) => at.join('/')));
    return faults
      .map(({ path, code, message }) => ({ at: [...place, ...segmentsOf(path)], code, message }))
      .filter(({ at }) => !known.has(at.join('/')));
  }

  /** Throws `ClientFailure` when there are faults. */
  refuse(faults: readonly FileFault[]): void {
    if (faults.length === 0) return;
    const placed = faults.map((fault) => ({ ...fault, ...this.positionOf(fault) }));
    placed.sort((a, b) => a.line - b.line || a.col - b.col);
    throw failureOf(placed.map(({ line, col, message }) => `${this.name}:${line}:${col}: ${firstLine(message)}`));
  }

  /** Of the field, else of what contains it. An unknown field is found by its name, any other by its value. */
  private positionOf({ at, code }: FileFault): { readonly line: number; readonly col: number } {
    for (let depth = at.length; depth > 0; depth -= 1) {
      const pair = this.pairAt(at.slice(0, depth));
      const isNamed = pair !== undefined && code === 'unknown_field' && depth === at.length;
      const node: unknown = isNamed ? pair.key : this.document.getIn(at.slice(0, depth), true);
      const start = isNode(node) ? node.range?.[0] : undefined;
      if (start !== undefined) return this.lines.linePos(start);
    }
    return { line: 1, col: 1 };
  }

  private pairAt(at: readonly PathSegment[]): Pair | undefined {
    const parent: unknown = at.length === 1 ? this.document.contents : this.document.getIn(at.slice(0, -1), true);
    if (!isMap(parent)) return undefined;
    return parent.items.find(({ key }) => fieldsOf(key)['value'] === at.at(-1));
  }
}

/** Reads a file; `-` is standard input. Throws `ClientFailure`. */
export async function readConfigurationFile(path: string): Promise<ConfigurationFile> {
  const name = path === '-' ? 'standard input' : path;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) {
      const part = Buffer.from(chunk as Buffer);
      bytes += part.length;
      if (bytes > CONFIGURATION_BYTES_MAX) throw tooLarge(name);
      chunks.push(part);
    }
  } catch (error) {
    throw readFailure(name, error);
  }
  const content = Buffer.concat(chunks);
  if (!isUtf8(content)) throw failureOf([`${name} is not UTF-8. Save it with that encoding.`]);
  return ConfigurationFile.parse(name, content.toString('utf8'));
}

/** The text of a file with these entries. Throws `ClientFailure` when it would be too large to be read again. */
export function configurationText(entries: ReadonlyMap<KindName, readonly ConfigurationEntry[]>): string {
  const kinds = [...entries].map(([kind, list]) => [kind, kind === 'retention' ? (list[0] ?? {}) : list] as const);
  const content = { version: FORMAT_VERSION, ...Object.fromEntries(kinds) };
  const document = new Document(content, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, { Scalar: (_key, scalar) => quoteWhiteSpace(scalar) });
  // Text between double quotes that is folded would be read with other line ends.
  const yaml = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER });
  const text = `${HEADER}${yaml}`;
  if (Buffer.byteLength(text) > CONFIGURATION_BYTES_MAX) throw tooLarge('The configuration of the workspace');
  return text;
}

/** As a block of lines, white space alone would be read as other white space. */
function quoteWhiteSpace(scalar: Scalar): void {
  if (typeof scalar.value === 'string' && /^\s+$/.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
}

function documentOf(name: string, text: string, lines: LineCounter): Document.Parsed {
  try {
    // Sets, ordered maps and dates are no JSON: their content would be lost without a word.
    const options = { prettyErrors: false, resolveKnownTags: false, stringKeys: true };
    const document = parseDocument(text, { lineCounter: lines, ...options });
    visit(document, { Scalar: (_key, scalar) => markInexact(scalar) });
    return document;
  } catch (error) {
    // The parser calls itself for each level.
    if (!(error instanceof RangeError)) throw error;
    throw tooDeep(name);
  }
}

/** As in the bodies of requests (docs/adr/0050): Infinity in the place of a number that a double does not keep. */
function markInexact(scalar: Scalar): void {
  if (typeof scalar.value !== 'number' || scalar.source === undefined) return;
  // JSON has no +1, .5 and 1. (with nothing behind the point), and no 0x1F and 0o17, which are whole.
  const literal = scalar.source
    .replace(/^[-+]/, '')
    .replace(/^\./, '0.')
    .replace(/\.(?!\d)/, '');
  const isExact = /^0[xo]/.test(literal) ? Number.isSafeInteger(scalar.value) : isKept(literal);
  if (!isExact) scalar.value = Infinity;
}

function valueOf(document: Document.Parsed, name: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // Too many aliases; they are the one thing that grows when a document is read.
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    throw new ClientFailure(`${name}: ${firstLine(error.message)}. Write the values out instead of using aliases.`);
  }
}

function formatFaults(value: unknown): FileFault[] {
  if (!isObject(value)) {
    const message = `A file of configuration is a map with "version: ${FORMAT_VERSION}" and ${KIND_NAMES.join(', ')}.`;
    return [{ at: [], code: 'type', message }];
  }
  if (value['version'] === FORMAT_VERSION) return [];
  const message = `version must be ${FORMAT_VERSION}, the version of the format.`;
  return [{ at: ['version'], code: 'enum', message }];
}

function kindFaults(kind: string, entries: unknown): FileFault[] {
  if (!KIND_NAMES.some((name) => name === kind)) {
    const meant = similarName(kind, KIND_NAMES);
    const hint = meant === undefined ? `The kinds are ${KIND_NAMES.join(', ')}.` : `Did you mean ${meant}?`;
    return [
      { at: [kind], code: 'unknown_field', message: `${readable(kind)} is not a kind of configuration. ${hint}` },
    ];
  }
  if (entries === null) return [];
  if (kind === 'retention') {
    return isObject(entries) ? [] : [{ at: [kind], code: 'type', message: 'retention must be a map with eventDays.' }];
  }
  if (!Array.isArray(entries)) return [{ at: [kind], code: 'type', message: `${kind} must be a list.` }];
  return entries.flatMap((entry, index) => {
    return isObject(entry) ? [] : [{ at: [kind, index], code: 'type', message: `${kind}[${index}] must be a map.` }];
  });
}

/** YAML has numbers that JSON does not have, and more digits than a number keeps. */
function numberFaults(value: unknown, at: readonly PathSegment[] = []): FileFault[] {
  // An alias within what it stands for has no end.
  if (at.length > LEVELS_MAX) throw tooDeep('The file');
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const name = String(at.at(-1) ?? 'The file');
    return [
      { at, code: 'range', message: `${name} must be a finite number that is stored exactly: of 15 digits or fewer.` },
    ];
  }
  if (Array.isArray(value)) return value.flatMap((each, index) => numberFaults(each, [...at, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => numberFaults(each, [...at, name]));
}

/** A step of the path of a fault: a field, an index or a quoted name. */
const SEGMENT = /^(?:\.?([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\])/;

/** The steps of a fault's path: `ops[1].path`, `properties["odd key"].type`. Ends where the path was shortened. */
function segmentsOf(path: string): readonly PathSegment[] {
  const segments: PathSegment[] = [];
  for (let rest = path; rest !== '';) {
    const found = SEGMENT.exec(rest);
    if (found === null) return segments;
    const [whole, name, index, quoted] = found;
    if (name !== undefined) segments.push(name);
    else if (index !== undefined) segments.push(Number(index));
    else segments.push(JSON.parse(quoted ?? '""') as string);
    rest = rest.slice(whole.length);
  }
  return segments;
}

function entriesIn(value: unknown): readonly ConfigurationEntry[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function tooDeep(name: string): ClientFailure {
  return new ClientFailure(`${name} is nested too deeply. No configuration has more than 64 levels.`);
}

function firstLine(text: string): string {
  return readable(text.split('\n')[0] ?? '');
}

function failureOf(problems: readonly string[]): ClientFailure {
  const shown = problems.slice(0, FAULTS_SHOWN_MAX);
  const more = problems.length - shown.length;
  return new ClientFailure(
    [
      ...shown,
      ...(more > 0 ? [`… and ${more} more.`] : []),
      'Nothing was changed. Correct the file; "cds export --schema" writes a JSON Schema that editors check it with.',
    ].join('\n'),
  );
}
