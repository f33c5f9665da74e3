/** Address literals as the kernel reads them, for the dial policy: stricter than `ipaddr.js` about spelling, and without its surprises. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ReturnType<typeof ipaddr.parse>;

/**
 * The address of a literal, without its zone: the zone names the interface, not who is reached. Undefined: no literal. Only the spellings
 * of `net.isIP` count, since `ipaddr.js` also takes those of the C library (`127.1`, `0x7f.0.0.1`, `010.0.0.1`).
 */
export function parsedAddress(text: string): Address | undefined {
  if (isIP(text) === 0) return undefined;
  const [address = ''] = text.split('%', 1);
  return ipaddr.parse(address.includes(':') ? withoutDots(address) : address);
}

/** An IPv4 address that an IPv6 literal carries in its last 32 bits. */
export const embeddedIpv4 = (address: ipaddr.IPv6): ipaddr.IPv4 => new ipaddr.IPv4(address.toByteArray().slice(12));

/** `::8.8.8.8` as `::808:808`: `ipaddr.js` takes the dotted form for the mapped address `::ffff:8.8.8.8`, which it is not. */
function withoutDots(address: string): string {
  if (!address.includes('.')) return address;
  const tailAt = address.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(tailAt).split('.').map(Number);
  return `${address.slice(0, tailAt)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
