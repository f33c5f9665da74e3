/** What the port of `/healthz` answers. Of all ports it is the one that no client of the API keeps busy. */
import { problem, problemResponse } from '../../../shared/api/http/problem.ts';
import { healthPath } from './client-stream.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

const elsewhere = problem(404, 'no-such-route', `Here is nothing but ${healthPath}; the API has a port of its own.`);

export const onlyHealth =
  (fetch: Fetch): Fetch =>
  (request) =>
    new URL(request.url).pathname === healthPath ? fetch(request) : problemResponse(elsewhere);
