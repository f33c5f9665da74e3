/**
 * Who may ask a process that has no token. It listens on loopback, so programs of this machine may; but a web page that somebody here
 * looks at must not, whatever name it has given to the address (DNS rebinding).
 */
import { problem, problemResponse } from '../../shared/api/problem.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

const names = ['127.0.0.1', '[::1]', 'localhost'];
const httpPort = 80;

/** `port`: where the process listens, known once it does. */
export function onlyLocalCallers(fetch: Fetch, port: () => number): Fetch {
  return (request) => {
    const why = foreign(request.headers, port());
    return why === undefined ? fetch(request) : problemResponse(problem(403, 'foreign-caller', `${why}; ${remedy}`));
  };
}

const remedy = 'without --token-file only programs of this machine may ask.';

/** What shows that a request comes from elsewhere. */
function foreign(headers: Headers, port: number): string | undefined {
  const hosts = new Set(names.flatMap((name) => [`${name}:${port}`, ...(port === httpPort ? [name] : [])]));
  const host = headers.get('host')?.toLowerCase() ?? '';
  if (!hosts.has(host)) return `Host has to be ${names.map((name) => `${name}:${port}`).join(' or ')}`;
  const origin = headers.get('origin');
  if (origin !== null && !(origin.startsWith('http://') && hosts.has(origin.slice('http://'.length))))
    return 'Origin names another site';
  return headers.get('sec-fetch-site') === 'cross-site' ? 'Sec-Fetch-Site is cross-site' : undefined;
}
