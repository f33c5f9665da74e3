/** The one token of `npm start`. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Problem, problem } from './problem.ts';

const unauthorized: Problem = {
  ...problem(401, 'unauthorized', 'A valid bearer token is needed.'),
  headers: { 'www-authenticate': 'Bearer' },
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns whether a header Authorization has the token. Digests are compared, so the time taken reveals neither the
 * token nor its length.
 */
export function tokenCheck(token: string): (authorization: string | null | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

/** Returns the refusal of a request, if any. */
export function bearerToken(token: string): (request: Request) => Problem | undefined {
  const isValid = tokenCheck(token);
  return (request) => (isValid(request.headers.get('authorization')) ? undefined : unauthorized);
}
