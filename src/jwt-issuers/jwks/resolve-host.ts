import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isObject } from '../../platform/values/json/is-object';

/** All addresses of a host. Throws a system error with a `code`; the signal ends it at once. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>;

/** Of one query; the second try waits longer. Both are far below what a whole fetch may take. */
const QUERY_MS_MAX = 1_000;
const TRIES = 2;
/** Connections are tried one after the other; no host needs more. */
const ADDRESSES_MAX = 16;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];
/** RFC 6761, 6.3 and 6.4: no server is to be asked for these. */
const LOOPBACK_NAME = /(?:^|\.)localhost$/;
const INVALID_NAME = /(?:^|\.)invalid$/;

/**
 * Asks DNS servers itself instead of `dns.lookup`, which the system answers on one of four threads of the process: names
 * whose servers are silent would hold all four, and with them whatever else the process does there. `servers` are the
 * system's when there are none. A name is looked up as it is written, without search domains.
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

/** A resolver of its own for each name: to cancel it cancels nobody else's queries. */
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

/** That there is no address of one kind says less than why there is none of the other. */
function reasonOf(...answers: readonly PromiseSettledResult<string[]>[]): Error {
  const reasons = answers.flatMap((answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : []));
  const telling = reasons.find((reason) => !isObject(reason) || reason['code'] !== 'ENODATA') ?? reasons[0];
  return telling instanceof Error ? telling : Object.assign(new Error('No address'), { code: 'ENODATA' });
}

/** Operators write names of their own network into it; what it says counts before any server. */
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
