/** The head of a probe's request, with the fields that Go's client would send. Source: net/http, request.go and transport.go. */

import { domainToASCII } from 'node:url';
import { goQuote } from '../core/go-text.ts';
import { type HttpUrl, isAscii } from './http-url.ts';
import { hasListedToken } from './http1-head.ts';

export type Headers = readonly (readonly [name: string, value: string])[];

export type RequestHead = {
  readonly url: HttpUrl;
  readonly headers: Headers;
  /** Sent as Host; empty: the URL's. */
  readonly hostOverride: string;
};

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Control characters but for the tab. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const forbiddenInValue = /[\0-\x08\x0a-\x1f\x7f]/;

/** Why Go would not send these headers; undefined: it would. */
export function headersTrouble(headers: Headers): string | undefined {
  for (const [name, value] of headers) {
    if (!token.test(name)) return `net/http: invalid header field name ${goQuote(name)}`;
    if (forbiddenInValue.test(value)) return `net/http: invalid header field value for ${goQuote(name)}`;
  }
  return undefined;
}

/** The head as HTTP/1.1 has it on the wire, the empty line included. */
export function requestHead1(request: RequestHead): string {
  const { url, headers } = request;
  let head = `GET ${url.target} HTTP/1.1\r\nHost: ${sentHost(request)}\r\n`;
  for (const [name, value] of sentFields(request)) head += `${name}: ${value}\r\n`;
  return `${head}${closes(headers) ? 'Connection: close\r\n' : ''}\r\n`;
}

/** What Go writes by itself, or not at all for a request without a body. */
const notCopied: ReadonlySet<string> = new Set(['Host', 'Content-Length', 'Transfer-Encoding', 'Trailer']);

/** The fields beside Host and Connection: of several user agents the first, and none when it is empty. */
export function sentFields({ url, headers }: RequestHead): Headers {
  const sent: (readonly [string, string])[] = [];
  let agentSeen = false;
  for (const [name, value] of headers) {
    if (notCopied.has(name)) continue;
    const text = trimmed(value);
    if (name === 'User-Agent') {
      if (!agentSeen && value !== '') sent.push([name, text]);
      agentSeen = true;
    } else sent.push([name, text]);
  }
  if (url.userinfo && !headerValue(headers, 'Authorization')) return withBasicAuth(sent, url.userinfo);
  return sent;
}

function withBasicAuth(sent: Headers, { name, password = '' }: NonNullable<HttpUrl['userinfo']>): Headers {
  const credentials = Buffer.from(`${name}:${password}`).toString('base64');
  return [...sent.filter(([field]) => field !== 'Authorization'), ['Authorization', `Basic ${credentials}`]];
}

const space = 0x20;

function trimmed(value: string): string {
  const isPlain = value.charCodeAt(0) > space && value.charCodeAt(value.length - 1) > space;
  return isPlain ? value : value.replace(/^[ \t]+|[ \t]+$/g, '');
}

const hostCharacters = /^[\w!$%&()*+,\-.:;=[\]'~]*$/;

/** A host that cannot stand in the field is sent as an empty one, which is valid; an IPv6 zone is nobody else's business. */
export function sentHost({ url, hostOverride }: RequestHead): string {
  const host = asciiHost(hostOverride === '' ? url.host : hostOverride);
  if (!hostCharacters.test(host)) return '';
  return host.startsWith('[') ? host.replace(/%[^\]]*\]/, ']') : host;
}

function asciiHost(host: string): string {
  if (isAscii(host)) return host;
  const [, name = '', port = ''] = /^(.*?)(:\d+)?$/s.exec(host) ?? [];
  return domainToASCII(name) + port;
}

/** Every probe has its own connection and says so, unless the headers already do or ask for another protocol. */
function closes(headers: Headers): boolean {
  const connection = headerValues(headers, 'Connection');
  if (connection.length === 0) return true;
  if (/(^|[ ,\t])close($|[ ,\t])/i.test(connection[0] ?? '')) return false;
  return !(headerValue(headers, 'Upgrade') && hasListedToken(connection, 'upgrade'));
}

export const headerValues = (headers: Headers, name: string): readonly string[] =>
  headers.filter(([field]) => field === name).map(([, value]) => value);

/** The first, or empty. */
export const headerValue = (headers: Headers, name: string): string =>
  headers.find(([field]) => field === name)?.[1] ?? '';
