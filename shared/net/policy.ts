/** Decides which addresses may be dialed. It judges the literal that is dialed, never a name. See SECURITY.md. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Address, embeddedIpv4, parsedAddress } from './address.ts';
import { type Cidr, didYouMean, readCidr } from './cidr.ts';
import type { DialPolicy, DialRefusal } from './net.ts';

export type DialPolicyOptions = {
  /**
   * `aws` allows public unicast addresses only. `local` also allows loopback and private ranges, for services on the
   * same network.
   */
  readonly mode: 'aws' | 'local';
  /**
   * Also allows these private or special ranges on AWS (`10.0.0.0/8`). Never opens loopback, link-local, metadata,
   * unspecified or multicast.
   */
  readonly allowCidrs?: readonly string[];
  /**
   * Whether loopback may be dialed. Defaults to true in `local` and false in `aws`; a deployment on an emulator sets
   * it.
   */
  readonly allowLoopback?: boolean;
};

/**
 * Verdicts are cached, since they depend on the address alone and each probe asks twice for the same one. More than the
 * targets of one process, which are probed in turn: a cache that is a little too small would never hold the next one.
 */
const verdictsMax = 16_384;

/**
 * Returns the policy of a deployment. Throws a RangeError if a range in `allowCidrs` is invalid. Denies texts that are
 * not addresses.
 */
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

/**
 * Refuses address literals that the policy denies. `remedy` describes the configuration that would allow the address.
 */
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

/**
 * Ranges without services: the unspecified address, multicast groups, and link-local, where clouds serve credentials
 * (169.254.169.254, .170.2).
 */
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
 * Metadata services outside link-local, which hand out credentials and machine settings: AWS (fd00:ec2::/32 is the IPv6
 * counterpart of 169.254.0.0/16), Alibaba, Oracle, Google, Azure, Scaleway. Source: each provider's documentation of
 * its metadata service.
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
 * Returns the address that a literal actually reaches. An embedded IPv4 address (mapped, NAT64) is judged as IPv4. The
 * other embedding forms (IPv4-compatible, IPv4-translated, 6to4, Teredo, local-use NAT64 with its free layout) are
 * denied, because no service uses them.
 */
function judgedAddress(text: string): Address | undefined {
  const address = parsedAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress() || address.match(nat64)) return embeddedIpv4(address);
  if (address.range() !== 'loopback' && address.match(ipv4Compatible)) return undefined;
  return address;
}
