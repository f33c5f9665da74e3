/** Parses address literals for the dial policy as the kernel does. It is stricter than `ipaddr.js` about spelling. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ReturnType<typeof ipaddr.parse>;

/**
 * Returns the address without its zone, which names an interface and not the peer; undefined if the text is not a
 * literal. Only spellings that `net.isIP` accepts are valid, because `ipaddr.js` also accepts those of the C library
 * (`127.1`, `0x7f.0.0.1`, `010.0.0.1`).
 */
export function parsedAddress(text: string): Address | undefined {
  if (isIP(text) === 0) return undefined;
  const [address = ''] = text.split('%', 1);
  return ipaddr.parse(address.includes(':') ? withoutDots(address) : address);
}

/** Returns the IPv4 address in the last 32 bits of an IPv6 address. */
export const embeddedIpv4 = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** Go counts an IPv4-mapped address as the IPv4 address: it dials it over IPv4, and shows it so. */
export function unmapped(text: string): string {
  const address = parsedAddress(text);
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? embeddedIpv4(address).toString() : text;
}

/**
 * Rewrites `::8.8.8.8` as `::808:808`, because `ipaddr.js` confuses the dotted form with the mapped address
 * `::ffff:8.8.8.8`.
 */
function withoutDots(address: string): string {
  if (!address.includes('.')) return address;
  const tailAt = address.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(tailAt).split('.').map(Number);
  return `${address.slice(0, tailAt)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
