/**
 * Decides which requests a process without a token accepts. It listens on loopback, so programs on this machine may
 * call it. A web page in a local browser must not, even if it maps a name to the address (DNS rebinding).
 */
import { problem, problemResponse } from '../../../shared/api/http/problem.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

const names = ['127.0.0.1', '[::1]', 'localhost'];
const httpPort = 80;

/** The address on which the process listens. */
type Address = { readonly host: string; readonly port: number };

/** `address` is a function, because the port is known only once the process listens. */
export function onlyLocalCallers(fetch: Fetch, address: () => Address): Fetch {
  return (request) => {
    const why = foreign(request, address());
    return why === undefined ? fetch(request) : problemResponse(problem(403, 'foreign-caller', `${why}; ${remedy}`));
  };
}

const remedy = 'without --token-file only programs of this machine may ask.';

/**
 * Sec-Fetch-Site of a page that the user opened or that comes from this process. Another port of this machine is the
 * same site but not the same origin.
 */
const ownSites: ReadonlySet<string | null> = new Set([null, 'none', 'same-origin']);

/** Returns the reason why a request comes from another site, or undefined. */
function foreign({ headers, url }: Request, { host: bound, port }: Address): string | undefined {
  const known = [...names, bound.includes(':') ? `[${bound}]` : bound];
  const hosts = new Set(known.flatMap((name) => [`${name}:${port}`, ...(port === httpPort ? [name] : [])]));
  const host = headers.get('host')?.toLowerCase() ?? '';
  // A request target in absolute form takes precedence over Host (RFC 9112, section 3.2.2).
  if (!hosts.has(host) || !hosts.has(authorityOf(url)))
    return `Host has to be ${names.map((name) => `${name}:${port}`).join(' or ')}`;
  const origin = headers.get('origin');
  if (origin !== null && !(origin.startsWith('http://') && hosts.has(origin.slice('http://'.length))))
    return 'Origin names another site';
  const site = headers.get('sec-fetch-site');
  return ownSites.has(site) ? undefined : `Sec-Fetch-Site is ${site}`;
}

/** A URL omits the default port of its scheme. */
function authorityOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? httpPort : port}`;
}
