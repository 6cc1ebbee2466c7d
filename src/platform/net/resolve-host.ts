import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isObject } from '../values/json/json-values';

/** Resolves all addresses of a host. Throws a system error with a `code`. The signal ends it at once. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** For one query; the second try waits longer. Both together are far below the limit of a fetch. */
const QUERY_MS_MAX = 1_000;
const TRIES = 2;
/** Addresses are tried one after the other. No host needs more. */
const ADDRESSES_MAX = 16;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** RFC 6761, sections 6.3 and 6.4: resolvers must not send queries for these names. */
const LOOPBACK_NAME = /(?:^|\.)localhost$/;
const INVALID_NAME = /(?:^|\.)invalid$/;

/**
 * Queries DNS servers directly. `dns.lookup` would run on one of the four threads of libuv's pool: names whose servers never
 * answer would block all four, and with them file access. `servers`: empty for those of the system. Names are looked up as
 * they are written, without search domains.
 */
export function hostResolver(servers: readonly string[], hostsFile = '/etc/hosts'): ResolveHost {
  return async (host, signal) => {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const name = host.replace(/\.$/, '').toLowerCase();
    if (LOOPBACK_NAME.test(name)) return LOOPBACK;
    if (INVALID_NAME.test(name)) throw Object.assign(new Error('No such host'), { code: 'ENOTFOUND' });
    const written = addressesIn(await textOf(hostsFile), name);
    return written.length > 0 ? written : ask(name, servers, signal);
  };
}

/** Uses a new resolver per name: cancelling it cancels only this query. */
async function ask(name: string, servers: readonly string[], signal: AbortSignal): Promise<readonly LookupAddress[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: QUERY_MS_MAX, tries: TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length === 0) throw reasonOf(four, six);
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  if (answer.status === 'rejected') return [];
  return answer.value.slice(0, ADDRESSES_MAX).map((address) => ({ address, family }));
}

/** The more informative of two failures: ENODATA only says that a name has no address of one family. */
function reasonOf(...answers: readonly PromiseSettledResult<string[]>[]): Error {
  const reasons = answers.flatMap((answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : []));
  const reason = reasons.find((each) => !isObject(each) || each['code'] !== 'ENODATA') ?? reasons[0];
  return reason instanceof Error ? reason : Object.assign(new Error('No address'), { code: 'ENODATA' });
}

/** The hosts file comes before DNS: operators list names of their own network there. */
function addressesIn(hosts: string, name: string): LookupAddress[] {
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    return family !== 0 && names.some((each) => each.toLowerCase() === name) ? [{ address, family }] : [];
  });
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    // A system without such a file.
    return '';
  }
}
