/** The request that curl and wget make of a URL and headers, as the handler `httpGet`. */
import { httpGet, isSecretLiteral } from '../../core/spec/handler-http-get.ts';
import { portMax } from '../../core/spec/limits.ts';
import { secretReference } from '../../core/spec/secret-hosts.ts';
import { given } from '../values.ts';
import { asks, type Difference, type Reading, runs, shown } from './reading.ts';

export type Header = { readonly name: string; readonly value: string };

export type Request = {
  readonly urls: readonly string[];
  /** As the option has them: `Name: value`. */
  readonly headers: readonly string[];
  /** Those that have options of their own. */
  readonly named: readonly Header[];
  /** Whether the tool is confined to IPv4. */
  readonly isIpv4: boolean;
  /** Whether the tool verifies certificates. */
  readonly verifies: boolean;
  readonly differences: readonly Difference[];
};

export function httpReading(request: Request, names: readonly string[]): Reading {
  const [text, second] = request.urls;
  if (text === undefined) return runs('it names no URL');
  if (second !== undefined) return runs('it asks for several URLs');
  const url = readUrl(text);
  if (typeof url === 'string') return runs(url);
  if (!names.includes(url.host)) return runs(`${shown(url.host)} is another host`);
  if (request.isIpv4 && url.host === '[::1]') return runs('"-4" excludes [::1]');
  const headers = readHeaders(request);
  if (typeof headers === 'string') return runs(headers);
  const isHttps = url.scheme === 'https';
  const handler = given({
    path: url.path,
    port: url.port,
    scheme: isHttps ? 'HTTPS' : undefined,
    httpHeaders: headers.length > 0 ? headers : undefined,
  });
  const [problem] = httpGet.problems({ ...handler, port: url.port, path: url.path, httpHeaders: headers }, '');
  if (problem) return runs(`its request ${problem.detail}`);
  const certificate: readonly Difference[] = isHttps && request.verifies ? ['certificate'] : [];
  return asks({ httpGet: handler }, ['redirects', ...certificate, ...request.differences]);
}

type Url = { readonly scheme: string; readonly host: string; readonly port: number; readonly path: string };

const origin = /^(?:(https?):\/\/)?(\[::1\]|[A-Za-z0-9][\w.-]*)(?::([1-9]\d{0,4}))?$/;

/**
 * What neither tool nor Go's net/url changes on the way to the request: wget decodes other escapes, and BusyBox sends a
 * query without a path, and a fragment, as a path.
 */
const pathAndQuery = /^\/(?:[\w\-.~!'()*+,;=:@&/?]|%(?:2[02356BCF]|3[ABDF]|40))*$/;

/** Returns what is wrong as a text. */
function readUrl(text: string): Url | string {
  const [, start = '', rest = ''] = /^((?:https?:\/\/)?[^/?#]*)(.*)$/s.exec(text) ?? [];
  const [, written, host = '', portText] = origin.exec(start) ?? [];
  const path = rest === '' ? '/' : rest;
  if (host === '' || !pathAndQuery.test(path)) return whyNotPlain(text);
  // curl guesses other schemes from names such as ftp.example.org.
  if (written === undefined && (host.startsWith('[') || (/[A-Za-z]/.test(host) && host.includes('.'))))
    return `${shown(start)} has no scheme`;
  if (path.startsWith('//')) return 'its path begins with "//"';
  if (/\/(\.|%2e){1,2}(\/|$)/i.test(path.split('?')[0] ?? '')) return 'its path has a segment of dots';
  const scheme = written ?? 'http';
  const port = portText === undefined ? (scheme === 'https' ? 443 : 80) : Number(portText);
  return port > portMax ? `its port is above ${portMax}` : { scheme, host, port, path };
}

/** Without what may be a secret. */
function whyNotPlain(text: string): string {
  if (/^(?:[^/?#]*\/\/)?[^/?#]*@/.test(text)) return 'its URL has user info';
  const odd = /[^\w\-.~!'()*+,;=:@&/?%[\]]/.exec(text)?.[0];
  return odd === undefined ? `its URL is not plain: ${shown(text.split('?')[0] ?? '')}` : `its URL has ${shown(odd)}`;
}

/** Returns what is wrong as a text, without values: they may be secrets. */
function readHeaders({ headers, named }: Request): readonly Header[] | string {
  const read = [...headers.map(readHeader), ...named];
  const seen = new Set<string>();
  for (const each of read) {
    if (typeof each === 'string') return each;
    const { name, value } = each;
    if (isSecretLiteral(each) || secretReference(value)) return `its header ${shown(name)} is a secret`;
    if (name.toLowerCase() === 'host' && !/^[A-Za-z0-9.-]+(:\d{1,5})?$/.test(value))
      return 'its header "Host" is no host';
    if (seen.has(name.toLowerCase())) return `its header ${shown(name)} is repeated`;
    seen.add(name.toLowerCase());
  }
  return read.filter((each) => typeof each !== 'string');
}

/** curl and wget send any other header in another way, or not at all. */
function readHeader(text: string): Header | string {
  const [, name = '', written = ''] = /^([A-Za-z0-9-]+):([ -~]*)$/.exec(text) ?? [];
  const value = written.trim();
  const isPlain = value !== '' && name.toLowerCase() !== 'expect';
  return isPlain ? { name, value } : `its header ${shown(text.split(':')[0] ?? '')} is not plain`;
}
