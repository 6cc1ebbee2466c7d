import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export const URL_CHARACTERS_MAX = 2048;

/** The URL parser would drop white space and replace backslashes: the checked text must be the written one. */
const WRITTEN_URL = /^https?:\/\/[^/?#\s\p{C}\\][^\s\p{C}\\]*$/iu;
/** All globally routed IPv6 addresses. IPv4 addresses inside IPv6 (mapped, compatible, NAT64) are outside this range. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Names that resolvers answer from the local network (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)$/;

/**
 * Whether an address is unicast and globally routed, so that a fetch from it cannot reach the network of the service. It
 * accepts the notation of resolvers and of the URL parser; an address in any other notation is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6);
}

/**
 * The visible fault of a foreign URL, as the rest of a sentence after the field's name; undefined when there is none. It
 * never repeats the URL (contract sections 2 and 15). `allowPrivate` permits http and any host.
 */
export function publicUrlFault(uri: string, allowPrivate: boolean): string | undefined {
  if (uri.length > URL_CHARACTERS_MAX) return `is longer than ${URL_CHARACTERS_MAX} characters`;
  if (!WRITTEN_URL.test(uri) || !URL.canParse(uri)) return 'must be an absolute https URL';
  const url = new URL(uri);
  if (url.protocol !== 'https:' && !allowPrivate)
    return 'must be an https URL; http can be read and changed in transit';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  if (uri.includes('#')) return 'must not have a fragment';
  if (!allowPrivate && !isPublicHost(hostOfUrl(url))) {
    return 'must name a host of the public Internet, not one of a private network or of this machine';
  }
  return undefined;
}

/** The host of a URL for resolvers: an IPv6 address without its brackets. */
export function hostOfUrl(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  const name = host.replace(/\.$/, '');
  return /^[^.]+(?:\.[^.]+)+$/.test(name) && !PRIVATE_NAME.test(name);
}
