import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export const JWKS_URI_CHARACTERS_MAX = 2048;

/** The URL parser would drop white space and turn backslashes around: what was checked must be what was written. */
const WRITTEN_URL = /^https?:\/\/[^/?#\s\p{C}\\][^\s\p{C}\\]*$/iu;
/** All of IPv6 that is routed in the Internet; IPv4 in IPv6 clothes (mapped, compatible, NAT64) lies outside. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Names that a resolver answers from its own house (RFC 6761, 6762, 8375, and ICANN's `internal`). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa)$/;

/**
 * Whether an address is unicast and routed in the Internet, so that fetching from it opens no door into the network of the
 * service. It takes the spellings that resolvers and the URL parser write; any other is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6);
}

/**
 * What can be seen to be wrong with the address of a key set, as words that follow the field's name, or undefined. The words
 * never repeat the address (contract section 2, `jwksUri`). `allowPrivate` permits http and any host.
 */
export function jwksUriFault(uri: string, allowPrivate: boolean): string | undefined {
  if (uri.length > JWKS_URI_CHARACTERS_MAX) return `is longer than ${JWKS_URI_CHARACTERS_MAX} characters`;
  if (!WRITTEN_URL.test(uri) || !URL.canParse(uri)) return 'must be an absolute https URL';
  const url = new URL(uri);
  if (url.protocol !== 'https:' && !allowPrivate)
    return 'must be an https URL; http can be read and changed on its way';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  if (uri.includes('#')) return 'must not have a fragment';
  if (!allowPrivate && !isPublicHost(hostOfUrl(url))) {
    return 'must name a host of the public Internet, not one of a private network or of this machine';
  }
  return undefined;
}

/** The host of a URL as resolvers take it: an IPv6 address without its brackets. */
export function hostOfUrl(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  const name = host.replace(/\.$/, '');
  return /^[^.]+(?:\.[^.]+)+$/.test(name) && !PRIVATE_NAME.test(name);
}
