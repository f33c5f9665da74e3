/** The one token of `npm start`. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Problem, problem } from './problem.ts';

const unauthorized: Problem = {
  ...problem(401, 'unauthorized', 'A valid bearer token is needed.'),
  headers: { 'www-authenticate': 'Bearer' },
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Returns the refusal of a request, if any. Digests are compared, so the time taken reveals neither the token nor its
 * length.
 */
export function bearerToken(token: string): (request: Request) => Problem | undefined {
  const expected = digest(token);
  return (request) => {
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected) ? undefined : unauthorized;
  };
}
