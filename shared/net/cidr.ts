/**
 * Address ranges of `allowCidrs`. A slip here opens a different range than intended (`ipaddr.js` reads `10/8` as
 * 0.0.0.10/8 and `010.0.0.0/8` as 8.0.0.0/8), or none (`::ffff:10.0.0.0/104`, since mapped addresses are judged as
 * IPv4). So only one spelling is valid, and the error message suggests the correction.
 */
import ipaddr from 'ipaddr.js';
import { type Address, embeddedIpv4, parsedAddress } from './address.ts';

export type Cidr = readonly [address: Address, prefix: number];

/**
 * `meant` is the range that the author most likely intended, in the valid spelling. It is absent if that would be a
 * guess.
 */
export type CidrReading =
  | { readonly kind: 'range'; readonly cidr: Cidr }
  | { readonly kind: 'wrong'; readonly meant?: string };

/** Accepts an IPv4 or IPv6 address with a prefix length, without host bits, leading zeros or a zone. */
export function readCidr(text: string): CidrReading {
  const cidr = meantCidr(text.trim());
  if (cidr === undefined) return { kind: 'wrong' };
  const meant = `${cidr[0].toString()}/${cidr[1]}`;
  return isWrittenRight(text, cidr) ? { kind: 'range', cidr } : { kind: 'wrong', meant };
}

/** Returns a suggestion for an error message, or an empty text if there is none. */
export function didYouMean(texts: readonly string[]): string {
  const meant = texts.flatMap((text) => {
    const read = readCidr(text);
    return read.kind === 'wrong' && read.meant !== undefined ? [read.meant] : [];
  });
  return meant.length === 0 ? '' : ` (did you mean ${meant.join(' and ')}?)`;
}

/** IPv6 allows several spellings of one address, so the parsed addresses are compared. */
function isWrittenRight(text: string, [address, prefix]: Cidr): boolean {
  const [written = '', length] = text.split('/');
  if (length !== String(prefix) || written.includes('%')) return false;
  return parsedAddress(written)?.toString() === address.toString();
}

function meantCidr(text: string): Cidr | undefined {
  const [written = '', length, ...more] = text.split('/').map((part) => part.trim());
  if (more.length > 0) return undefined;
  const address = meantAddress(written, length !== undefined);
  const prefix = address && prefixOf(length, address);
  return address && prefix !== undefined ? judgedRange(address, prefix) : undefined;
}

/** Parses the address after removing leading zeros and brackets; in a range, missing octets count as zero. */
function meantAddress(written: string, mayBeShort: boolean): Address | undefined {
  const plain = written.startsWith('[') && written.endsWith(']') ? written.slice(1, -1) : written;
  if (plain.includes(':')) return parsedAddress(plain);
  const octets = plain.split('.').map((octet) => (isNumber(octet) ? String(Number(octet)) : octet));
  while (mayBeShort && octets.length < octetsOfIpv4) octets.push('0');
  return parsedAddress(octets.join('.'));
}

const octetsOfIpv4 = 4;
const isNumber = (text: string): boolean => /^\d{1,3}$/.test(text);

/** Without a length, the range is the address alone. A mask (`255.0.0.0`) is converted to a prefix length. */
function prefixOf(length: string | undefined, address: Address): number | undefined {
  const bits = bitsOf(address);
  if (length === undefined) return bits;
  if (isNumber(length)) return Number(length) <= bits ? Number(length) : undefined;
  const mask = parsedAddress(length);
  return (mask?.kind() === 'ipv4' && address.kind() === 'ipv4' && mask.prefixLengthFromSubnetMask()) || undefined;
}

const bitsOf = (address: Address): number => (address.kind() === 'ipv4' ? 32 : 128);

/**
 * Ranges that embed an IPv4 address in their last 32 bits: mapped, compatible and NAT64. The dial policy judges the
 * embedded address or denies the whole range.
 */
const carriers = ['::ffff:0:0/96', '::/96', '64:ff9b::/96'].map((range) => ipaddr.IPv6.parseCIDR(range));
const carrierBits = 96;

/**
 * Returns the range in the form that the policy judges; undefined if there is none, such as for a mapped address with
 * an IPv4 prefix length.
 */
function judgedRange(address: Address, prefix: number): Cidr | undefined {
  if (address instanceof ipaddr.IPv4 || !carriers.some((range) => address.match(range)))
    return [networkOf(address, prefix), prefix];
  if (prefix >= carrierBits) return [networkOf(embeddedIpv4(address), prefix - carrierBits), prefix - carrierBits];
  return address.isIPv4MappedAddress() ? undefined : [networkOf(address, prefix), prefix];
}

function networkOf(address: Address, prefix: number): Address {
  const bytes = address.toByteArray().map((byte, at) => {
    const hostBits = Math.min(8, Math.max(0, 8 * (at + 1) - prefix));
    return byte & (0xff << hostBits);
  });
  return ipaddr.fromByteArray(bytes);
}
