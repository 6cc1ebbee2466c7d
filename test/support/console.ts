import { Client, type Answer, type RequestOptions } from './client';
import { noteSecrets } from './log-watch';

/** What a browser sends with a request of a page of the console. */
export const FROM_CONSOLE = { 'sec-fetch-site': 'same-origin', 'x-cds-console': '1' };

/** A browser with the console open. It keeps its cookie, and sends what pages of the console send. */
export class Browser extends Client {
  /** The pair of name and value. */
  cookie: string | undefined;

  constructor(url: string) {
    super(url, undefined);
  }

  override async send(
    path: string,
    body: string | Uint8Array | undefined,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const cookie = this.cookie === undefined ? {} : { cookie: this.cookie };
    const answer = await super.send(`/console/api${path}`, body, {
      ...options,
      headers: { ...FROM_CONSOLE, ...cookie, ...options.headers },
    });
    for (const line of answer.headers.getSetCookie()) this.keep(line);
    return answer;
  }

  delete(path: string): Promise<Answer> {
    return this.send(path, undefined, { method: 'DELETE' });
  }

  signIn(key: string): Promise<Answer> {
    noteSecrets(key, undefined);
    return this.post('/session', { key });
  }

  private keep(line: string): void {
    const [pair = ''] = line.split(';', 1);
    const [name = '', value = ''] = pair.split('=');
    if (value !== '') {
      noteSecrets(value, undefined);
      this.cookie = pair;
    } else if (this.cookie?.startsWith(`${name}=`) === true) this.cookie = undefined;
  }
}

/** A browser that has signed in with a key. */
export async function signedIn(url: string, key: string): Promise<Browser> {
  const browser = new Browser(url);
  const { status } = await browser.signIn(key);
  expect(status).toBe(200);
  return browser;
}
