/**
 * The order in which Go dials the addresses of a name: RFC 6724, section 6, as in net/addrselect.go. Rules 3, 4 and 7
 * are missing there too, and rule 9 holds between IPv6 addresses only.
 */
import ipaddr from 'ipaddr.js';
import { parsedAddress } from './address.ts';

/** The local address from which the machine would send to an address; undefined: it has no route to it. */
export type Source = string | undefined;

type Attributes = { readonly bytes: readonly number[]; readonly scope: number; readonly policy: Policy };
type Policy = { readonly precedence: number; readonly label: number };
type Candidate = { readonly address: string; readonly to: Attributes; readonly from: Attributes | undefined };

/** `sources`: of each address. Equal addresses keep their order. */
export function inDialOrder(addresses: readonly string[], sources: readonly Source[]): readonly string[] {
  return addresses
    .map((address, at): Candidate => {
      const source = sources[at];
      return { address, to: attributesOf(address), from: source === undefined ? undefined : attributesOf(source) };
    })
    .sort(compared)
    .map(({ address }) => address);
}

/** Negative: `a` is dialed first. */
function compared(a: Candidate, b: Candidate): number {
  // Rule 1: an address without a route comes last.
  if (!a.from || !b.from) return Number(a.from === undefined) - Number(b.from === undefined);
  return (
    // Rule 2: the scope of the source is that of the address.
    Number(b.to.scope === b.from.scope) - Number(a.to.scope === a.from.scope) ||
    // Rule 5: so is the label.
    Number(b.to.policy.label === b.from.policy.label) - Number(a.to.policy.label === a.from.policy.label) ||
    // Rule 6: higher precedence.
    b.to.policy.precedence - a.to.policy.precedence ||
    // Rule 8: smaller scope.
    a.to.scope - b.to.scope ||
    // Rule 9: longer prefix in common with the source.
    (isMapped(a.to.bytes) || isMapped(b.to.bytes) ? 0 : commonBits(b.to, b.from) - commonBits(a.to, a.from))
  );
}

/** The address in 16 bytes, IPv4 in its mapped form. */
function bytesOf(address: string): readonly number[] {
  const parsed = parsedAddress(address);
  const ipv6 = parsed instanceof ipaddr.IPv4 ? parsed.toIPv4MappedAddress() : parsed;
  return ipv6?.toByteArray() ?? [];
}

function attributesOf(address: string): Attributes {
  const bytes = bytesOf(address);
  const policy = policies.find(({ prefix, bits }) => commonLength(bytes, prefix, bits) === bits) ?? unknown;
  return { bytes, scope: scopeOf(bytes), policy };
}

const unknown: Policy = { precedence: 0, label: 0 };

/** RFC 6724, section 2.1, the longest prefix first. */
const policies = [
  policy('::1/128', 50, 0),
  policy('::ffff:0:0/96', 35, 4),
  policy('::/96', 1, 3),
  policy('2001::/32', 5, 5),
  policy('2002::/16', 30, 2),
  policy('3ffe::/16', 1, 12),
  policy('fec0::/10', 1, 11),
  policy('fc00::/7', 3, 13),
  policy('::/0', 40, 1),
];

function policy(range: string, precedence: number, label: number) {
  const [prefix, bits] = ipaddr.IPv6.parseCIDR(range);
  return { prefix: prefix.toByteArray(), bits, precedence, label };
}

const mappedBits = 96;
const mappedPrefix: readonly number[] = ipaddr.IPv6.parse('::ffff:0:0').toByteArray();
const isMapped = (bytes: readonly number[]): boolean => commonLength(bytes, mappedPrefix, mappedBits) === mappedBits;

/** RFC 6724, section 3.1. */
const scope = { linkLocal: 0x2, siteLocal: 0x5, global: 0xe } as const;

function scopeOf(bytes: readonly number[]): number {
  const [first = 0, second = 0] = bytes;
  if (isMapped(bytes)) {
    const [a, b] = bytes.slice(mappedBits / 8);
    return a === 127 || (a === 169 && b === 254) ? scope.linkLocal : scope.global;
  }
  const isLoopback = bytes.every((byte, at) => byte === Number(at === bytes.length - 1));
  if (isLoopback || (first === 0xfe && (second & 0xc0) === 0x80)) return scope.linkLocal;
  if (first === 0xff) return second & 0xf;
  return first === 0xfe && (second & 0xc0) === 0xc0 ? scope.siteLocal : scope.global;
}

/** The part of an IPv6 address that names its network. */
const networkBits = 64;

const commonBits = (a: Attributes, b: Attributes): number => commonLength(a.bytes, b.bytes, networkBits);

/** How many leading bits are equal, at most `bitsMax`. */
function commonLength(a: readonly number[], b: readonly number[], bitsMax: number): number {
  const at = a.findIndex((byte, index) => byte !== b[index]);
  if (at < 0) return bitsMax;
  const differing = (a[at] ?? 0) ^ (b[at] ?? 0);
  return Math.min(bitsMax, at * 8 + Math.clz32(differing) - 24);
}
