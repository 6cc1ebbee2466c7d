import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { registerTypes } from './builders';
import { noteSecrets } from './log-watch';
import { aTenant, type KeyOptions } from './tenant';

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
    noteSecrets(this.key, body);
    const headers = {
      ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    };
    // As bytes: Node.js sends headers in the encoding of a text that follows them.
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return answerTo(request(`${this.url}${path}`, { agent, method: options.method ?? 'POST', headers }), (outgoing) =>
      outgoing.end(bytes),
    );
  }

  /** Sends a body in chunks, without saying how long it will be. */
  sendChunked(path: string, chunks: Iterable<string | Uint8Array>, options: RequestOptions = {}): Promise<Answer> {
    const authorization = this.key === undefined ? {} : { authorization: `Bearer ${this.key}` };
    const headers = { ...authorization, 'content-type': 'application/json', ...options.headers };
    return answerTo(request(`${this.url}${path}`, { method: options.method ?? 'POST', headers }), (outgoing) =>
      Readable.from(chunks).pipe(outgoing),
    );
  }
}

/** Without the cost of `fetch`, which is a tenth of that of all tests. */
const agent = new Agent({ keepAlive: true });

function answerTo(outgoing: ClientRequest, sendBody: (outgoing: ClientRequest) => unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject).on('response', (incoming) => {
      text(incoming)
        .then((body) => resolve(answerOf(incoming, body)))
        .catch(reject);
    });
    sendBody(outgoing);
  });
}

const REPEATS_MAX = 10;

/** The answer of a service that was not too busy: 503 asks to send the same again. */
export async function answered(send: () => Promise<Answer>): Promise<Answer> {
  for (let repeats = 0; ; repeats += 1) {
    const answer = await send();
    if (answer.status !== 503 || repeats === REPEATS_MAX) return answer;
  }
}

/** A fresh workspace that no other test knows. */
export interface Workspace {
  readonly tenantId: string;
  /** As `X-Workspace` has it. */
  readonly name: string;
  /** May do everything. */
  readonly admin: Client;
  client(options: KeyOptions): Promise<Client>;
}

export interface RunningService {
  readonly url: string;
  readonly databaseUrl: string;
}

export async function aWorkspace({ url, databaseUrl }: RunningService): Promise<Workspace> {
  const tenant = await aTenant(databaseUrl);
  const client = async (options: KeyOptions): Promise<Client> => new Client(url, await tenant.key(options));
  return { tenantId: tenant.tenantId, name: tenant.name, admin: new Client(url, tenant.adminKey), client };
}

/** A client that may do everything in a workspace that no other test knows. */
export async function aClient(service: RunningService): Promise<Client> {
  return (await aWorkspace(service)).admin;
}

/** The same, with the event types registered that `INGEST_FAMILIES` send. */
export async function aReadyClient(service: RunningService): Promise<Client> {
  const client = await aClient(service);
  await registerTypes(client);
  return client;
}

/** The faults of a problem document or of a batch item, each as `path code`, in their order. */
export function faultsOf({ details }: { readonly details: readonly { path: string; code: string }[] }): string[] {
  return details.map(({ path, code }) => `${path} ${code}`);
}

/** Holds an answer to the form of every error (contract section 1), and its faults to `faults` where they are given. */
export function expectProblem(
  { status, headers, body }: Answer,
  expectedStatus: number,
  code: string,
  faults?: readonly string[],
): void {
  expect([status, body]).toEqual([
    expectedStatus,
    {
      type: expect.stringMatching(/\S/),
      title: expect.stringMatching(/\S/),
      status: expectedStatus,
      detail: body.message,
      error_code: code,
      message: expect.stringMatching(/\S/),
      details: (body.details ?? []).map(() => ({
        path: expect.any(String),
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.stringMatching(/\S/),
      })),
      request_id: expect.stringMatching(/\S/),
    },
  ]);
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.get('x-request-id')).toBe(body.request_id);
  if (faults !== undefined) expect(faultsOf(body).sort()).toEqual(faults.toSorted());
}

/** What the review area of the client's workspace shows, newest first. */
export async function reviewEntries(client: Client, query = ''): Promise<any[]> {
  return (await client.get(`/v1/review-entries?limit=200${query}`)).body.items;
}

/** The only entry in the review area. */
export async function theReviewEntry(client: Client): Promise<any> {
  const entries = await reviewEntries(client);
  expect(entries).toHaveLength(1);
  return entries[0];
}

/** The record of a stored event. */
export async function storedEvent(client: Client, { body }: Answer): Promise<any> {
  const { status, body: event } = await client.get(`/v1/events/${body.event_id ?? body.original_event_id}`);
  expect(status).toBe(200);
  return event;
}

function answerOf({ statusCode = 0, rawHeaders }: IncomingMessage, text: string): Answer {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) headers.append(rawHeaders[index]!, rawHeaders[index + 1]!);
  return { status: statusCode, headers, body: text === '' ? undefined : bodyOf(text, headers) };
}

/** What is neither JSON nor a problem document, as lines of JSON are not, is text. */
function bodyOf(text: string, headers: Headers): unknown {
  return /^application\/(?:problem\+)?json\b/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}
