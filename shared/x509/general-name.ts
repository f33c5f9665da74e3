/** Names of hosts, mailboxes and URIs in a certificate's extensions, as Go's crypto/x509 judges them. */
import { isAscii } from 'node:buffer';
import { isIpv4, isIpv6 } from '../core/go/ip-literal.ts';
import { goQuote } from '../core/go/text.ts';
import { parseReference } from '../core/go/url.ts';
import { contextSpecific, type Element } from './der.ts';

const nameTags = {
  mailbox: contextSpecific(1),
  host: contextSpecific(2),
  uri: contextSpecific(6),
  address: contextSpecific(7),
} as const;

/** Of a subject's alternative name. */
export function alternativeNameProblem({ tag, content }: Element): string | undefined {
  switch (tag) {
    case nameTags.mailbox:
      return isAscii(content) ? undefined : 'x509: SAN rfc822Name is malformed';
    case nameTags.host:
      return isAscii(content) ? undefined : 'x509: SAN dNSName is malformed';
    case nameTags.uri:
      return isAscii(content)
        ? uriProblem(content.toString('latin1'))
        : 'x509: SAN uniformResourceIdentifier is malformed';
    case nameTags.address: {
      const { length } = content;
      return length === 4 || length === 16 ? undefined : `x509: cannot parse IP address of length ${length}`;
    }
    default:
      return undefined;
  }
}

function uriProblem(uri: string): string | undefined {
  const parsed = parseReference(uri);
  if (!parsed) return `x509: cannot parse URI ${goQuote(uri)}`;
  const isValid = isDomain(parsed.authority ?? '');
  return isValid ? undefined : `x509: cannot parse URI ${goQuote(uri)}: invalid domain`;
}

/** Of a name constraint. */
export function constraintProblem({ tag, content }: Element): string | undefined {
  if (tag === nameTags.address) return rangeProblem(content);
  const kind = constraintKinds[tag];
  if (!kind) return undefined;
  const text = content.toString();
  const quoted = goQuote(text);
  if (!isAscii(content)) return `x509: invalid constraint value: x509: ${quoted} cannot be encoded as an IA5String`;
  if (tag === nameTags.uri && isAddress(text))
    return `x509: failed to parse URI constraint ${quoted}: cannot be IP address`;
  return kind.isValid(text) ? undefined : `x509: failed to parse ${kind.name} constraint ${quoted}`;
}

type ConstraintKind = { readonly name: string; readonly isValid: (text: string) => boolean };

const constraintKinds: Readonly<Record<number, ConstraintKind>> = {
  [nameTags.host]: { name: 'dnsName', isValid: isConstraint },
  [nameTags.mailbox]: {
    name: 'rfc822Name',
    isValid: (text) => (text.includes('@') ? isMailbox(text) : isConstraint(text)),
  },
  [nameTags.uri]: { name: 'URI', isValid: isConstraint },
};

const isAddress = (text: string): boolean => isIpv4(text) || (isIpv6(text) && !text.includes('%'));

/** An address and its mask. */
function rangeProblem(content: Buffer): string | undefined {
  const { length } = content;
  if (length !== 8 && length !== 32) return `x509: IP constraint contained value of length ${length}`;
  const mask = content.subarray(length / 2);
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? undefined : `x509: IP constraint contained invalid mask ${mask.toString('hex')}`;
}

/** Labels of visible ASCII, none of them empty. */
const domain = /^[!-~]*$/;

/** Go's domainNameValid; an empty text is valid. A final dot makes an empty label. */
const isDomain = (text: string): boolean =>
  text === '' || (domain.test(text) && text.split('.').every((label) => label !== ''));

/** A constraint may begin with a dot, but not be one. */
function isConstraint(text: string): boolean {
  return text === '' || (text !== '.' && isDomain(text.startsWith('.') ? text.slice(1) : text));
}

const quotedLocal = /^"(?:[^\0\t\n\r"\\]|\\[^\0\n\r])*"@/;
/** Outside quotes Go takes any character after a backslash. */
const plainLocal = /^(?:[0-9A-Za-z!#$%&'*+\-/=?^_`{|}~.]|\\[\s\S])+@/;

/** Go's parseRFC2821Mailbox. */
function isMailbox(text: string): boolean {
  if (text.startsWith('"')) {
    const local = quotedLocal.exec(text)?.[0];
    return local !== undefined && isDomain(text.slice(local.length));
  }
  const local = plainLocal.exec(text)?.[0];
  if (local === undefined) return false;
  const name = local.slice(0, -1).replace(/\\(.)/gs, '$1');
  return !name.startsWith('.') && !name.endsWith('.') && !name.includes('..') && isDomain(text.slice(local.length));
}
