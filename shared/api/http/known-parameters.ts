/**
 * Compares the query parameters of a request with those that its route describes: an unknown or repeated one is
 * refused, never ignored.
 */
import { nearest } from '../../lib/nearest.ts';
import type { Route } from '../route.ts';
import { invalidParameters, type ParameterError, type Problem } from './problem.ts';

/** A 400 that names every unknown or repeated parameter; undefined: there is none. */
export function refusedParameters(route: Pick<Route, 'query'>, query: URLSearchParams): Problem | undefined {
  const known = Object.keys(route.query?.shape ?? {});
  const errors = [...new Set(query.keys())].flatMap((parameter): readonly ParameterError[] => {
    if (!known.includes(parameter)) return [{ parameter, detail: unknownDetail(parameter, known) }];
    return query.getAll(parameter).length > 1 ? [{ parameter, detail: 'must be given once' }] : [];
  });
  return errors.length > 0 ? invalidParameters(errors) : undefined;
}

function unknownDetail(parameter: string, known: readonly string[]): string {
  const meant = nearest(parameter, known);
  if (meant !== undefined) return `unknown parameter; did you mean ${meant}?`;
  return `unknown parameter; this route has ${known.length === 0 ? 'none' : known.join(', ')}`;
}
