/**
 * IP address literals, as strict as Go's net/netip and refused in its words: no leading zeros, no short forms, no other
 * bases.
 */
import { goQuote } from './text.ts';

type Refusal = { readonly reason: string; readonly at?: string } | undefined;

export const isIpv4 = (text: string): boolean => ipv4Refusal(text) === undefined;

/** Without brackets; a zone (`fe80::1%eth0`) is allowed. */
export const isIpv6 = (text: string): boolean => ipv6Refusal(text) === undefined;

/** Why the text is no IPv6 literal, as Go's `ParseAddr` says it; undefined: it is one. */
export function whyNotIpv6(text: string): string | undefined {
  const first = /[.:%]/.exec(text)?.[0];
  switch (first) {
    case ':':
      return refusalText(text, ipv6Refusal(text));
    case '.': {
      const refusal = ipv4Refusal(text);
      return refusal === undefined ? 'invalid IP-literal' : refusalText(text, refusal);
    }
    case '%':
      return refusalText(text, { reason: 'missing IPv6 address' });
    default:
      return refusalText(text, { reason: 'unable to parse IP' });
  }
}

function refusalText(text: string, refusal: Refusal): string | undefined {
  if (!refusal) return undefined;
  const at = refusal.at ? ` (at ${goQuote(refusal.at)})` : '';
  return `invalid host: ParseAddr(${goQuote(text)}): ${refusal.reason}${at}`;
}

function ipv4Refusal(text: string): Refusal {
  let octets = 0;
  for (const found of text.matchAll(/\d+|./gs)) {
    const [part] = found;
    const at = text.slice(found.index);
    if (/^\d/.test(part)) {
      if (/^0\d/.test(part)) return { reason: 'IPv4 field has octet with leading zero' };
      if (Number(part) > 255) return { reason: 'IPv4 field has value >255' };
      octets += 1;
    } else if (part !== '.') {
      return { reason: 'unexpected character', at };
    } else if (at === '.' || found.index === 0 || text[found.index - 1] === '.') {
      return { reason: 'IPv4 field must have at least one digit', at };
    } else if (octets === 4) {
      return { reason: 'IPv4 address too long' };
    }
  }
  return octets < 4 ? { reason: 'IPv4 address too short' } : undefined;
}

const groupsOfIpv6 = 8;
const groupsOfIpv4 = 2;

function ipv6Refusal(text: string): Refusal {
  const zoneAt = text.indexOf('%');
  if (zoneAt >= 0 && zoneAt === text.length - 1) return { reason: 'zone must be a non-empty string' };
  const address = zoneAt < 0 ? text : text.slice(0, zoneAt);
  if (address === '::') return undefined;
  const leading = address.startsWith('::');
  return groupsRefusal(leading ? address.slice(2) : address, 0, leading);
}

/** `rest` begins where a group should; `groups` were read so far, with or without the `::`. */
function groupsRefusal(rest: string, groups: number, elided: boolean): Refusal {
  const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? '';
  if (digits.length > 4) return { reason: 'each group must have 4 or less digits', at: rest };
  if (digits === '') return { reason: 'each colon-separated field must have at least one digit', at: rest };
  const after = rest.slice(digits.length);
  if (after.startsWith('.')) return ipv4TailRefusal(rest, groups, elided);
  const read = groups + 1;
  if (after === '') return lengthRefusal(read, elided);
  if (!after.startsWith(':')) return { reason: 'unexpected character, want colon', at: after };
  if (after === ':') return { reason: 'colon must be followed by more characters', at: after };
  const elides = after.startsWith('::');
  if (elides && elided) return { reason: 'multiple :: in address', at: after.slice(1) };
  const next = after.slice(elides ? 2 : 1);
  if (elides && next === '') return lengthRefusal(read, true);
  if (read === groupsOfIpv6) return { reason: 'trailing garbage after address', at: next };
  return groupsRefusal(next, read, elided || elides);
}

function ipv4TailRefusal(rest: string, groups: number, elided: boolean): Refusal {
  if (!elided && groups !== groupsOfIpv6 - groupsOfIpv4)
    return { reason: 'embedded IPv4 address must replace the final 2 fields of the address', at: rest };
  if (groups > groupsOfIpv6 - groupsOfIpv4)
    return { reason: 'too many hex fields to fit an embedded IPv4 at the end of the address', at: rest };
  return ipv4Refusal(rest) ?? lengthRefusal(groups + groupsOfIpv4, elided);
}

function lengthRefusal(groups: number, elided: boolean): Refusal {
  if (groups < groupsOfIpv6) return elided ? undefined : { reason: 'address string too short' };
  return elided ? { reason: 'the :: must expand to at least one field of zeros' } : undefined;
}
