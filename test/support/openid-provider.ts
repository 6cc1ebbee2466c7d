import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const PROVIDER = join(__dirname, 'openid-provider-child.mjs');
const ANSWER_MS_MAX = 30_000;

export interface TokenRequest {
  readonly audience: string;
  /** RS256 unless named. */
  readonly alg?: 'RS256' | 'PS256' | 'ES256';
  /** Beside `iss`, `aud`, `sub`, `iat`, `exp` (in an hour), and instead of those that are named here. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** A real OpenID provider in a process of its own. */
export interface OpenIdProvider {
  readonly issuer: string;
  readonly jwksUri: string;
  /** A JWT access token that it gave for the grant of client credentials. */
  token(request: TokenRequest): Promise<string>;
  /** Signs with new keys from now on; whether tokens of the old ones can still be verified is up to `publishOld`. */
  rotateKeys(options: { readonly publishOld: boolean }): Promise<void>;
  stop(): Promise<void>;
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const child = fork(PROVIDER, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const { issuer } = await answerOf(child);
  return {
    issuer,
    jwksUri: `${issuer}/jwks`,
    token: (request) => tokenOf(issuer, request),
    rotateKeys: async (options) => {
      const rotated = answerOf(child);
      child.send(options);
      await rotated;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      // It has nothing to finish, and what Node does at the end of a process cannot hang then.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function answerOf(child: ChildProcess): Promise<{ issuer: string }> {
  const written: string[] = [];
  const listen = (chunk: Buffer) => written.push(chunk.toString());
  child.stderr?.on('data', listen);
  const ended = new AbortController();
  const fail = () => ended.abort();
  child.once('exit', fail);
  try {
    const [answer] = await once(child, 'message', { signal: ended.signal });
    return answer;
  } catch (error) {
    throw new Error(`The OpenID provider ended: ${written.join('')}`, { cause: error });
  } finally {
    child.off('exit', fail);
    child.stderr?.off('data', listen);
  }
}

async function tokenOf(issuer: string, { audience, alg = 'RS256', claims = {} }: TokenRequest): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    headers: { Authorization: `Basic ${Buffer.from('tests:a+secret+of+the+tests').toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: 'https://campaigns.test',
      audience,
      alg,
      claims: JSON.stringify(claims),
    }),
  });
  const body: any = await response.json();
  if (!response.ok) throw new Error(`The OpenID provider answered ${response.status}: ${JSON.stringify(body)}`);
  return body.access_token;
}
