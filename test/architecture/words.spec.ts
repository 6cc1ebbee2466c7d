import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const FOREIGN = /(?:^|\/)(?:node_modules|dist|coverage|data|\.\w+)(?:\/|$)/;
const CODE = new Set(['.ts', '.tsx', '.mjs', '.cjs']);

/** Words that a reader from another country does not know, or that say less than the standard term. */
const BANNED_WORDS = [
  'whoever',
  'of whom',
  'somebody who',
  'told of',
  'mend',
  'mends',
  'mended',
  'mending',
  'papers',
  'by heart',
  'as it were',
  'milliard',
  'stranger',
  'strangers',
  'homes',
  'retreat',
  'retreats',
  'breathe',
  'breathes',
  'save for',
  'save that',
  'save when',
  'save where',
];
const BANNED = new RegExp(
  String.raw`\b(?:${BANNED_WORDS.join('|').replaceAll(' ', String.raw`\s+(?:\*\s+|//\s+)?`)})\b`,
  'gi',
);

/** Folders of code, whose comments are checked. */
const CODE_FOLDERS = ['bench', 'clients', 'console', 'scripts', 'src', 'test'];

const PROSE_LINE_MAX = 120;
const PARAGRAPH_LINES_MAX = 5;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const documents = filesBelow('.').filter((path) => path.endsWith('.md'));

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return FOREIGN.test(path) ? [] : filesBelow(path);
    return [path];
  });
}

/** The text with everything that a pattern matches made blank; lines stay where they are. */
function without(text: string, pattern: RegExp): string {
  return text.replaceAll(pattern, (match) => match.replaceAll(/[^\n]/g, ' '));
}

/** A document without its code blocks and code words. */
function proseOf(markdown: string): string {
  return without(without(markdown, /^(```|~~~)[^]*?^\1/gm), /`[^`\n]*`/g);
}

/** The comments of a source file. Not seen are line comments without a blank in front. */
function commentsOf(source: string): string {
  const comments = [...source.matchAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/ .*$/gm)];
  return comments.map(([comment]) => comment).join('\n');
}

function bannedIn(path: string, text: string): string[] {
  return [...text.matchAll(BANNED)].map(([words]) => `${path}: ${words.replaceAll(/\s+/g, ' ')}`);
}

describe('documents', () => {
  it('are found', () => {
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/operations.md', 'src/ingest/README.md']));
  });

  it('hold none of the banned words', () => {
    expect(documents.flatMap((path) => bannedIn(path, proseOf(read(path))))).toEqual([]);
  });

  it(`have no line of prose over ${PROSE_LINE_MAX} characters, tables and code excepted`, () => {
    const long = documents.flatMap((path) =>
      without(read(path), /^(```|~~~)[^]*?^\1/gm)
        .split('\n')
        .filter((line) => line.trimEnd().length > PROSE_LINE_MAX && !line.startsWith('|'))
        .map((line) => `${path}: ${line}`),
    );
    expect(long).toEqual([]);
  });

  it(`have no paragraph of more than ${PARAGRAPH_LINES_MAX} lines`, () => {
    expect(documents.flatMap((path) => paragraphsOver(path, read(path)))).toEqual([]);
  });
});

function paragraphsOver(path: string, markdown: string): string[] {
  const text = without(markdown, /^(```|~~~)[^]*?^\1/gm);
  // A list item is a paragraph of its own; a table is none.
  const paragraphs = text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)/)
    .filter((part) => !part.trimStart().startsWith('|'));
  return paragraphs
    .map((part) => part.trim())
    .filter((part) => part.split('\n').length > PARAGRAPH_LINES_MAX)
    .map((part) => `${path}: ${part.slice(0, PROSE_LINE_MAX)}`);
}

describe('comments', () => {
  it('are found, over line breaks too', () => {
    const [told, were] = ['told', 'were'];
    const source = `/** Has\n * ${told}\n * of it. */\nconst url = 'http://mend.x'; // as it ${were}\n`;
    expect(bannedIn('x', commentsOf(source))).toEqual([`x: ${told} * of`, `x: as it ${were}`]);
  });

  it('hold none of the banned words', () => {
    const sources = CODE_FOLDERS.flatMap(filesBelow).filter((path) => CODE.has(extname(path)));
    expect(sources.flatMap((path) => bannedIn(path, commentsOf(read(path))))).toEqual([]);
  });
});
