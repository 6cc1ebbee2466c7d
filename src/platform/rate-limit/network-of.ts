import ipaddr from 'ipaddr.js';

/** A household or a server has a /64 of IPv6; counting single addresses would let it start anew 2^64 times. */
const IPV6_PREFIX_BITS = 64;

/** What stands for a client when its failures are counted: its IPv4 address, or its IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(
    `${parsed.toNormalizedString().replace(/%.*/, '')}/${IPV6_PREFIX_BITS}`,
  ).toString();
}
