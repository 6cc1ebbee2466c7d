import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Request, Response } from 'express';
import { DomainError } from '../platform/errors/domain-error';
import { isErrno } from '../platform/errors/error-summary';
import type { ProblemDetails } from '../platform/errors/problem-details';

const PAGES_PATH = '/console';
/** The build gives these files names with a hash of their content. */
const ASSETS = 'assets/';
const FOR_A_YEAR = 'public, max-age=31536000, immutable';
/** What the build has written beside a file, best first (scripts/compress-console.mjs). */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
/** What could lead out of the folder, in any spelling. */
const LEADS_OUT = /(?:^|[/\\])\.\.?(?:[/\\]|$)|\0/;
/** Names of files of the build. */
const FILE_NAME = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;
const BASE = /<base href="[^"]*"\s*\/?>/;

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>Campaign Data Service</title></head>
  <body>
    <h1>The console is not built</h1>
    <p>Run <code>npm run build</code> in the folder of the service, then load this page again.</p>
    <p>The API does not need the console. Its documentation is at <code>/docs</code>.</p>
  </body>
</html>
`;

/** Serves the pages of the console: the files of a folder, and the index for every address that the pages make themselves. */
export class ConsolePages {
  constructor(private readonly folder: string) {}

  /** For paths at or below `/console`. Throws `method_not_allowed`, and `not_found` for files that are not there. */
  async serve(request: Request, response: Response): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new DomainError('method_not_allowed', 'Pages are read with GET.', { headers: { Allow: 'GET, HEAD' } });
    }
    const name = nameIn(request.path);
    if (await this.isFile(name)) await this.sendFile(name, request, response);
    else if (name.startsWith(ASSETS)) throw noSuchFile();
    else await this.sendIndex(request.path, response);
  }

  /**
   * Shows a person what went wrong with an address that a browser has opened: the index with the problem in its head.
   * Status and headers are set already. False: there are no pages, and nothing was sent.
   */
  async sendProblem(problem: ProblemDetails, path: string, response: Response): Promise<boolean> {
    const index = await this.indexText();
    if (index === undefined) return false;
    response.type('html');
    response.end(withProblem(withBase(index, baseOf(path)), problem));
    return true;
  }

  private async sendFile(name: string, request: Request, response: Response): Promise<void> {
    response.setHeader('Cache-Control', name.startsWith(ASSETS) ? FOR_A_YEAR : 'no-cache');
    response.type(extname(name));
    const encoded = await this.encodedName(name, request, response);
    const options = { root: this.folder, cacheControl: false, acceptRanges: false };
    await new Promise<void>((resolve, reject) => {
      response.sendFile(encoded, options, (error?: Error) => {
        // The browser has left: there is nobody to answer.
        if (error === undefined || response.headersSent) resolve();
        else reject(error);
      });
    });
  }

  /** The file in the best encoding that the browser takes. */
  private async encodedName(name: string, request: Request, response: Response): Promise<string> {
    for (const [encoding, ending] of ENCODINGS) {
      if (!(await this.isFile(`${name}${ending}`))) continue;
      response.vary('Accept-Encoding');
      if (request.acceptsEncodings(encoding) === false) continue;
      response.setHeader('Content-Encoding', encoding);
      return `${name}${ending}`;
    }
    return name;
  }

  /** The addresses in the index are relative to its base, which leads from the address of the page to `/console/`. */
  private async sendIndex(path: string, response: Response): Promise<void> {
    response.setHeader('Cache-Control', 'no-store');
    response.type('html');
    const index = await this.indexText();
    if (index === undefined) response.status(404).end(NOT_BUILT);
    else response.end(withBase(index, baseOf(path)));
  }

  private async indexText(): Promise<string | undefined> {
    try {
      return await readFile(join(this.folder, 'index.html'), 'utf8');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  private async isFile(name: string): Promise<boolean> {
    if (!FILE_NAME.test(name) || name === 'index.html') return false;
    try {
      return (await stat(join(this.folder, name))).isFile();
    } catch {
      return false;
    }
  }
}

/** Where the build puts the pages: `dist/console` beside the `package.json` of the service. */
export function builtPagesFolder(): string {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, 'dist', 'console');
}

/** The path below `/console/`, decoded. Throws `not_found` for a path that could lead out of the folder. */
function nameIn(path: string): string {
  let name: string;
  try {
    name = decodeURIComponent(path.slice(PAGES_PATH.length + 1));
  } catch {
    throw noSuchFile();
  }
  if (LEADS_OUT.test(name)) throw noSuchFile();
  return name;
}

/**
 * From the address of a page to the folder of the console: `../` for each folder on the way. Being relative, it is right behind
 * a proxy with a path prefix too.
 */
function baseOf(path: string): string {
  if (path === PAGES_PATH) return 'console/';
  return '../'.repeat(path.slice(PAGES_PATH.length + 1).split('/').length - 1) || './';
}

function withBase(index: string, base: string): string {
  const element = `<base href="${base}" />`;
  return BASE.test(index) ? index.replace(BASE, element) : index.replace('<head>', `<head>${element}`);
}

/** As an attribute, since the content security policy allows no script in the document. */
function withProblem(index: string, { status, message, request_id: requestId }: ProblemDetails): string {
  const content = escapeAttribute(JSON.stringify({ status, message, requestId }));
  return index.replace('</head>', () => `<meta name="cds-problem" content="${content}" /></head>`);
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function noSuchFile(): DomainError {
  return new DomainError('not_found', 'The console has no such file.');
}
