import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseEnv } from 'node:util';
import { readSettings, SETTINGS } from '../../src/platform/config/env';
import { ERROR_CODES } from '../../src/platform/errors/error-codes';
import { FAULT_CODES } from '../../src/platform/errors/fault-codes';
import { REACTION_WARNING_CODES } from '../../src/reactions/domain/reaction-warnings';
import { sharedApp } from '../support/app';
import { Client } from '../support/client';

const ROOT = join(__dirname, '..', '..');
const FOREIGN = /(?:^|\/)(?:node_modules|dist|coverage|\.\w+)(?:\/|$)/;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The files below a folder whose path from the root matches. */
function filesBelow(folder: string, pattern: RegExp): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return FOREIGN.test(path) ? [] : filesBelow(path, pattern);
    return pattern.test(path) ? [path] : [];
  });
}

/** The cells of the table whose first column is `` `name` ``. */
function table(markdown: string, name: string): string[][] {
  const lines = markdown.split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| \`${name}\` `));
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'));
  const rows = head === -1 ? [] : lines.slice(head + 2, end);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('docs/errors.md', () => {
  it('has every error code, its status, its meaning and its remedy, and no other', () => {
    const codes = Object.entries(ERROR_CODES);
    expect(table(read('docs/errors.md'), 'error_code')).toEqual(
      codes.map(([code, { status, title, remedy }]) => [`\`${code}\``, String(status), `${title}.`, remedy]),
    );
  });

  it('has every fault code with its meaning, and no other', () => {
    const codes = Object.entries(FAULT_CODES);
    expect(table(read('docs/errors.md'), 'code')).toEqual(codes.map(([code, meaning]) => [`\`${code}\``, meaning]));
  });
});

describe('docs/errors.md on reactions', () => {
  it('has every code of a warning with its meaning, and no other', () => {
    const codes = Object.entries(REACTION_WARNING_CODES);
    expect(table(read('docs/errors.md'), 'warning')).toEqual(codes.map(([code, meaning]) => [`\`${code}\``, meaning]));
  });
});

describe('every code of a refusal', () => {
  it('is used by some rule', () => {
    const declarations = /platform\/errors\/(?:error|fault)-codes\.ts$|metadata\.ts$|\.spec\.ts$/;
    const sources = filesBelow('src', /\.ts$/).filter((path) => !declarations.test(path));
    const text = sources.map(read).join('\n');
    const codes = [...Object.keys(ERROR_CODES), ...Object.keys(FAULT_CODES)];
    expect(codes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});

describe('.env.example', () => {
  const text = read('.env.example');
  const settings = Object.values(SETTINGS);

  it('describes every setting with the text of the code, and no other', () => {
    const described = [...text.matchAll(/^# (.*)\n#(\w+)=/gm)].map(([, description, variable]) => [
      variable,
      description,
    ]);
    expect(described).toEqual(settings.map(({ variable, description }) => [variable, description]));
    expect([...text.matchAll(/^#?(\w+)=/gm)]).toHaveLength(settings.length);
  });

  it('shows every default, sets nothing by itself, and changes nothing with every line enabled', () => {
    expect(parseEnv(text)).toEqual({});
    const shown = parseEnv(text.replaceAll(/^#(?=\w+=)/gm, ''));
    expect(readSettings(shown)).toEqual(readSettings({}));
    const hidden = settings.filter(({ variable, parse }) => {
      const value: unknown = parse(undefined);
      const hasDefault = value !== undefined && !(Array.isArray(value) && value.length === 0);
      return hasDefault && !shown[variable];
    });
    expect(hidden.map(({ variable }) => variable)).toEqual([]);
  });
});

describe('docs/openapi.json', () => {
  it('is the document that the service serves (npm run openapi writes it)', async () => {
    const service = await sharedApp();
    const { body } = await new Client(service.url, undefined).get('/docs-json');
    expect(JSON.parse(read('docs/openapi.json'))).toEqual(body);
  });

  it('has the schemas that the built service checks bodies with', () => {
    expect(JSON.parse(read('dist/body-schemas.json'))).toEqual(
      JSON.parse(read('docs/openapi.json')).components.schemas,
    );
  });

  it('names every code that an answer can carry', () => {
    const { ProblemDetails } = JSON.parse(read('docs/openapi.json')).components.schemas;
    expect(ProblemDetails.properties.error_code.enum).toEqual(Object.keys(ERROR_CODES));
    expect(ProblemDetails.properties.details.items.properties.code.enum).toEqual(Object.keys(FAULT_CODES));
  });

  it('ends in a line break', () => {
    expect(read('docs/openapi.json')).toMatch(/[^\n]\n$/);
  });
});

describe('links between documents', () => {
  const documents = filesBelow('.', /\.md$/);

  it('are read from all documents', () => {
    expect(documents).toEqual(expect.arrayContaining(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/errors.md']));
    expect(linksOf(read('docs/errors.md'))).toEqual(['openapi.json']);
  });

  it('lead to a file that exists, and to a heading that it has', () => {
    const broken = documents.flatMap((document) =>
      linksOf(read(document))
        .filter((link) => !leads(document, link))
        .map((link) => `${document}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

/** The targets of links and pictures outside code, without those on other hosts. */
function linksOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^(```|~~~)[^]*?^\1/gm, '').replaceAll(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const defined = [...prose.matchAll(/^\[[^\]]+\]:\s*<?([^\s>]+)/gm)];
  const html = [...prose.matchAll(/\b(?:href|src)="([^"]+)"/g)];
  return [...inline, ...defined, ...html]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target));
}

function leads(document: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? document : relative(ROOT, join(ROOT, dirname(document), decodeURIComponent(path)));
  if (target.startsWith('..') || !existsSync(join(ROOT, target))) return false;
  if (heading === undefined || !target.endsWith('.md')) return true;
  const headings = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, words = '']) => anchor(words));
  return headings.includes(heading);
}

/** The anchor of a heading, as GitHub makes it. */
function anchor(words: string): string {
  const letters = words.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
  return letters.trim().replaceAll(' ', '-');
}
