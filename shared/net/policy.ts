/** Which addresses may be dialed. Judged on the literal that is dialed, never on a name. See SECURITY.md. */
import ipaddr from 'ipaddr.js';
import type { DialPolicy } from './net.ts';

export type DialPolicyOptions = {
  /** `aws`: public unicast only. `local`: loopback and private ranges too, that is where one's own services are. */
  readonly mode: 'aws' | 'local';
  /** Opens private and special ranges on AWS (`10.0.0.0/8`), never loopback, link-local, unspecified or multicast. */
  readonly allowCidrs?: readonly string[];
  /** May loopback be dialed? Default: in `local` yes, in `aws` no; there only a deployment on an emulator says so. */
  readonly allowLoopback?: boolean;
};

type Address = ReturnType<typeof ipaddr.parse>;
type Cidr = ReturnType<typeof ipaddr.parseCIDR>;

/** A verdict is a pure function of the address, so it is remembered: a probe asks twice for the same one. */
const verdictsMax = 4096;

/** The policy of a deployment. Throws a RangeError when one of `allowCidrs` is malformed; a text that is no address is denied. */
export function dialPolicy(options: DialPolicyOptions): DialPolicy {
  const allowed = (options.allowCidrs ?? []).map(parsedCidr);
  const verdicts = new Map<string, boolean>();
  return (address) => {
    const known = verdicts.get(address);
    if (known !== undefined) return known;
    if (verdicts.size >= verdictsMax) verdicts.clear();
    const verdict = isAllowed(address, options, allowed);
    verdicts.set(address, verdict);
    return verdict;
  };
}

function parsedCidr(text: string): Cidr {
  if (!ipaddr.isValidCIDR(text)) throw new RangeError(`not a CIDR: ${text}`);
  return ipaddr.parseCIDR(text);
}

function isAllowed(text: string, options: DialPolicyOptions, allowed: readonly Cidr[]): boolean {
  const address = judgedAddress(text);
  if (address === undefined) return false;
  const range = address.range();
  if (neverDialed.has(range) || isCloudMetadata(address)) return false;
  if (range === 'loopback') return options.allowLoopback ?? options.mode === 'local';
  if (options.mode === 'local' || range === 'unicast') return true;
  return allowed.some((cidr) => address.kind() === cidr[0].kind() && address.match(cidr));
}

/** Not services: this host unspecified, whole groups, and link-local, where clouds keep credentials (169.254.169.254, .170.2). */
const neverDialed: ReadonlySet<string> = new Set([
  'unspecified',
  'linkLocal',
  'deprecatedSiteLocal',
  'multicast',
  'broadcast',
  'discard',
  ...['rfc6145', '6to4', 'teredo', 'rfc6052'],
]);

/** fd00:ec2::/32 is to IPv6 what 169.254.0.0/16 is to IPv4 on AWS: metadata, DNS, time, credentials. */
const cloudMetadata = ipaddr.parseCIDR('fd00:ec2::/32');
const ipv4Compatible = ipaddr.parseCIDR('::/96');
const nat64 = ipaddr.parseCIDR('64:ff9b::/96');

function isCloudMetadata(address: Address): boolean {
  return address.kind() === 'ipv6' && address.match(cloudMetadata);
}

/**
 * The address that a literal really reaches: an IPv4 address inside an IPv6 one (mapped, NAT64) is judged as itself. The other forms
 * that carry one (IPv4-compatible, IPv4-translated, 6to4, Teredo, local NAT64 with its free layout) are denied: nobody serves there.
 */
function judgedAddress(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.parse(text);
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(nat64)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  if (address.range() !== 'loopback' && address.match(ipv4Compatible)) return undefined;
  return address;
}
