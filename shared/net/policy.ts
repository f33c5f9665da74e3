/** Which addresses may be dialed. Judged on the literal that is dialed, never on a name. See SECURITY.md. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Address, embeddedIpv4, parsedAddress } from './address.ts';
import { type Cidr, didYouMean, readCidr } from './cidr.ts';
import type { DialPolicy, DialRefusal } from './net.ts';

export type DialPolicyOptions = {
  /** `aws`: public unicast only. `local`: loopback and private ranges too, that is where one's own services are. */
  readonly mode: 'aws' | 'local';
  /** Opens private and special ranges on AWS (`10.0.0.0/8`), never loopback, link-local, metadata, unspecified or multicast. */
  readonly allowCidrs?: readonly string[];
  /** May loopback be dialed? Default: in `local` yes, in `aws` no; there only a deployment on an emulator says so. */
  readonly allowLoopback?: boolean;
};

/** A verdict is a pure function of the address, so it is remembered: a probe asks twice for the same one. */
const verdictsMax = 4096;

/** The policy of a deployment. Throws a RangeError when one of `allowCidrs` is wrong; a text that is no address is denied. */
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

/** By the policy's verdict on an address literal. `remedy`: what would allow it. */
export function dialRefusal(policy: DialPolicy, remedy: (address: string) => string): DialRefusal {
  return (host) => (isIP(host) === 0 || policy(host) ? undefined : `the dial policy denies ${host}; ${remedy(host)}`);
}

function parsedCidr(text: string): Cidr {
  const read = readCidr(text);
  if (read.kind === 'wrong') throw new RangeError(`${text} is no range${didYouMean([text])}`);
  return read.cidr;
}

function isAllowed(text: string, options: DialPolicyOptions, allowed: readonly Cidr[]): boolean {
  const address = judgedAddress(text);
  if (address === undefined) return false;
  const range = address.range();
  if (neverDialed.has(range) || isCloudMetadata(address)) return false;
  if (range === 'loopback') return options.allowLoopback ?? options.mode === 'local';
  if (options.mode === 'local' || range === 'unicast') return true;
  return allowed.some((cidr) => isWithin(address, cidr));
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

/**
 * Where clouds answer with credentials and settings of the machine, outside of link-local: AWS (fd00:ec2::/32 is to IPv6 what
 * 169.254.0.0/16 is to IPv4), Alibaba, Oracle, Google, Azure, Scaleway. By each provider's documentation of its metadata service.
 */
const cloudMetadata: readonly Cidr[] = [
  'fd00:ec2::/32',
  '100.100.100.200/32',
  ...['192.0.0.192/32', 'fd00:c1::a9fe:a9fe/128'],
  'fd20:ce::254/128',
  '168.63.129.16/32',
  'fd00:42::42/128',
].map((range) => ipaddr.parseCIDR(range));

const isCloudMetadata = (address: Address): boolean => cloudMetadata.some((range) => isWithin(address, range));

const isWithin = (address: Address, [network, prefix]: Cidr): boolean =>
  address.kind() === network.kind() && address.match(network, prefix);

const ipv4Compatible = ipaddr.IPv6.parseCIDR('::/96');
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The address that a literal really reaches: an IPv4 address inside an IPv6 one (mapped, NAT64) is judged as itself. The other forms
 * that carry one (IPv4-compatible, IPv4-translated, 6to4, Teredo, local NAT64 with its free layout) are denied: nobody serves there.
 */
function judgedAddress(text: string): Address | undefined {
  const address = parsedAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress() || address.match(nat64)) return embeddedIpv4(address);
  if (address.range() !== 'loopback' && address.match(ipv4Compatible)) return undefined;
  return address;
}
