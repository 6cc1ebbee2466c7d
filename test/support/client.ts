/** What a test sees of an answer. */
export interface Answer<Body = any> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Calls one service with one credential, over real HTTP. */
export class Client {
  constructor(
    readonly url: string,
    readonly key: string | undefined,
  ) {}

  get(path: string): Promise<Answer> {
    return this.send(path, undefined, { method: 'GET' });
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.send(path, JSON.stringify(body));
  }

  /** Sends a body as it is. */
  async send(path: string, body: string | Uint8Array | undefined, options: RequestOptions = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method: options.method ?? 'POST',
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }
}
