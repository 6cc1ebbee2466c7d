import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { FROM_CONSOLE, Browser } from './console';

const PROVIDER = join(__dirname, 'sign-in-provider-child.mjs');
const STEPS_MAX = 12;
const REDIRECTS = new Set([302, 303]);

export interface GivenAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
}

export interface ProviderState {
  /** By their subject. */
  readonly persons?: Readonly<Record<string, { readonly name: string; readonly groups: readonly string[] }>>;
  /** The subject of the person who signs in next. */
  readonly next?: string;
  readonly isAway?: boolean;
  /** It gives tokens, and says nothing about persons. */
  readonly isUserInfoAway?: boolean;
  /** It answers when this is false again. */
  readonly isHeld?: boolean;
  /** What it answers at these paths instead of its own answers. */
  readonly answers?: Readonly<Record<string, GivenAnswer>>;
  /** Whether it gives refresh tokens. */
  readonly refreshes?: boolean;
  readonly redirectUris?: readonly string[];
}

/** A real OpenID provider in a process of its own, at which persons sign in. */
export interface SignInProvider {
  readonly issuer: string;
  set(state: ProviderState): Promise<void>;
  stop(): Promise<void>;
}

export async function startSignInProvider(): Promise<SignInProvider> {
  const child = fork(PROVIDER, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const { issuer } = await messageOf(child);
  return {
    issuer,
    set: async (state) => {
      const done = messageOf(child);
      child.send(state);
      await done;
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function messageOf(child: ChildProcess): Promise<any> {
  const [message] = await once(child, 'message');
  return message;
}

/** A browser that goes to the provider and back. It keeps the cookies of both, and sends what their attributes allow. */
export class TravellingBrowser extends Browser {
  /** Lines of `Set-Cookie`, by origin and name. */
  readonly jar = new Map<string, Map<string, string>>();

  /** Follows redirects from `path` below `/console/api` until there are none, or one leads to `until`. */
  async travel(path: string, until?: RegExp): Promise<{ address: string; response: Response }> {
    let address = `${this.url}/console/api${path}`;
    let isCrossSite = false;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const response = await this.visit(address, isCrossSite);
      const location = response.headers.get('location');
      if (!REDIRECTS.has(response.status) || location === null) return { address, response };
      const next = new URL(location, address).href;
      isCrossSite ||= new URL(next).origin !== new URL(address).origin;
      address = next;
      if (until?.test(address) === true || (address.startsWith(`${this.url}/console/`) && !address.includes('/api/'))) {
        return { address, response };
      }
    }
    throw new Error(`More than ${STEPS_MAX} redirects`);
  }

  /** Opens an address as a window does. */
  async visit(address: string, isCrossSite = false): Promise<Response> {
    const { origin } = new URL(address);
    const lines = [...(this.jar.get(origin)?.values() ?? [])].filter(
      (line) => !isCrossSite || !/SameSite=Strict/i.test(line),
    );
    const session = !isCrossSite && origin === this.url && this.cookie !== undefined ? [this.cookie] : [];
    const cookie = [...lines.map((line) => line.split(';', 1)[0] ?? ''), ...session].join('; ');
    const site = isCrossSite ? 'cross-site' : FROM_CONSOLE['sec-fetch-site'];
    const headers = { ...(cookie === '' ? {} : { cookie }), 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' };
    const response = await fetch(address, { headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.store(origin, line);
    return response;
  }

  private store(origin: string, line: string): void {
    const name = line.slice(0, line.indexOf('='));
    if (origin === this.url && /^cds_console=/.test(line)) {
      this.cookie = line.split(';', 1)[0];
      return;
    }
    const cookies = this.jar.get(origin) ?? new Map<string, string>();
    this.jar.set(origin, cookies);
    if (/Max-Age=0|expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
    else cookies.set(name, line);
  }
}
