/**
 * Who may ask a process that has no token. It listens on loopback, so programs of this machine may; but a web page that somebody here
 * looks at must not, whatever name it has given to the address (DNS rebinding).
 */
import { problem, problemResponse } from '../../shared/api/problem.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

const names = ['127.0.0.1', '[::1]', 'localhost'];
const httpPort = 80;

/** Where the process listens. */
type Address = { readonly host: string; readonly port: number };

/** `address`: its port is known once the process listens. */
export function onlyLocalCallers(fetch: Fetch, address: () => Address): Fetch {
  return (request) => {
    const why = foreign(request, address());
    return why === undefined ? fetch(request) : problemResponse(problem(403, 'foreign-caller', `${why}; ${remedy}`));
  };
}

const remedy = 'without --token-file only programs of this machine may ask.';

/** Where a page is that the browser itself opens, or one of the process's own. Another port of this machine is the same site, but another page. */
const ownSites: ReadonlySet<string | null> = new Set([null, 'none', 'same-origin']);

/** What shows that a request comes from elsewhere. */
function foreign({ headers, url }: Request, { host: bound, port }: Address): string | undefined {
  const known = [...names, bound.includes(':') ? `[${bound}]` : bound];
  const hosts = new Set(known.flatMap((name) => [`${name}:${port}`, ...(port === httpPort ? [name] : [])]));
  const host = headers.get('host')?.toLowerCase() ?? '';
  // A request target in absolute form (RFC 9112, section 3.2.2) goes before Host.
  if (!hosts.has(host) || !hosts.has(authorityOf(url)))
    return `Host has to be ${names.map((name) => `${name}:${port}`).join(' or ')}`;
  const origin = headers.get('origin');
  if (origin !== null && !(origin.startsWith('http://') && hosts.has(origin.slice('http://'.length))))
    return 'Origin names another site';
  const site = headers.get('sec-fetch-site');
  return ownSites.has(site) ? undefined : `Sec-Fetch-Site is ${site}`;
}

/** A URL leaves out the port of its scheme. */
function authorityOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? httpPort : port}`;
}
