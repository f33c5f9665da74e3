/**
 * Which hosts each secret may be sent to. The client that registers a target chooses the host, so the operator lists
 * the hosts of each secret; a secret without a host is sent nowhere. See docs/design/protocols.md.
 */
import { isIpv4, isIpv6 } from '../go/ip-literal.ts';
import { portMax, portMin } from './limits.ts';

export type SecretHost = {
  /** In lower case; an IPv6 address in its shortest form. */
  readonly host: string;
  /** `*.host`: any name below it, but not the name itself. */
  readonly isBelow: boolean;
  /** Absent: any port. */
  readonly port?: number;
};

/** Keyed by reference, as written in a header. */
export type SecretHosts = ReadonlyMap<string, readonly SecretHost[]>;

/** The address that is dialled. */
export type Destination = { readonly host: string; readonly port: number };

const nameBytesMax = 253;

/**
 * `HOST`, `HOST:PORT`, `*.HOST`, `*.HOST:PORT`; an IPv6 address in brackets, or bare without a port. Undefined: none of
 * these.
 */
export function secretHost(text: string): SecretHost | undefined {
  const [, bracketed, plain = '', portText] = /^(?:\[([^\]]*)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isBelow = plain.startsWith('*.');
  const given = bracketed ?? (isIpv6(text) ? text : isBelow ? plain.slice(2) : plain);
  const host = bracketed !== undefined && !isIpv6(bracketed) ? undefined : canonicalHost(given);
  const port = portText === undefined ? undefined : Number(portText);
  if (host === undefined || (isBelow && isIpv4(host))) return undefined;
  if (port !== undefined && (port < portMin || port > portMax)) return undefined;
  return { host, isBelow, ...(port !== undefined && { port }) };
}

/** A resolver is asked for the name, so a name that is not ASCII has to be given in Punycode. */
const hostName = /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+\.?$/;
/** Go reads `127.1` as a name, others as an address: it is most likely a mistake. */
const endsInNumber = /(?:^|\.)\d+\.?$/;

function canonicalHost(text: string): string | undefined {
  if (isIpv4(text)) return text;
  // WHATWG has one spelling for each address, and refuses one with a zone.
  if (isIpv6(text)) return URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  const name = text.toLowerCase();
  return name.length <= nameBytesMax && hostName.test(name) && !endsInNumber.test(name) ? name : undefined;
}

export function maySend(hosts: SecretHosts, { source, name }: SecretReference, to: Destination): boolean {
  const asked = canonicalHost(to.host);
  if (asked === undefined) return false;
  return (hosts.get(`${source}:${name}`) ?? []).some(
    ({ host, isBelow, port }) =>
      (port === undefined || port === to.port) && (isBelow ? asked.endsWith(`.${host}`) : asked === host),
  );
}

// A header value that refers to a secret. It is stored and shown as it is; only the prober replaces it.

export type SecretReference = {
  readonly source: 'env' | 'ssm' | 'secretsmanager';
  /** An environment variable's name, a parameter's name or a secret's id. */
  readonly name: string;
};

/** `env:NAME`, `ssm:/path/name`, `secretsmanager:id`; undefined: the value is literal. */
export function secretReference(value: string): SecretReference | undefined {
  const env = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1];
  if (env !== undefined) return { source: 'env', name: env };
  const [, source, name] = /^(ssm|secretsmanager):([A-Za-z0-9/_+=.@:-]+)$/.exec(value) ?? [];
  if (name === undefined) return undefined;
  return { source: source === 'ssm' ? 'ssm' : 'secretsmanager', name };
}
