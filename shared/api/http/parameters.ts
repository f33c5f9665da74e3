/** Query parameters: decoded, or a 400 that names those that are invalid, unknown or repeated. None is ignored. */
import './zod-openapi.ts';
import * as z from 'zod';
import { nearest } from '../../lib/nearest.ts';
import { type Checked, invalidParameters, ok, type ParameterError, type Problem } from './problem.ts';

export const dryRunParam = z
  .enum(['true', 'false'])
  .optional()
  .openapi({ description: 'true: validate and answer what would be stored, but store and publish nothing.' });

export function readFlag(query: URLSearchParams, parameter: string): Checked<boolean> {
  const text = query.get(parameter) ?? 'false';
  return text === 'true' || text === 'false'
    ? ok(text === 'true')
    : invalidParameters([{ parameter, detail: 'must be true or false' }]);
}

/** undefined: not given. */
export function readChoice<Choice extends string>(
  query: URLSearchParams,
  parameter: string,
  choices: readonly Choice[],
): Checked<Choice | undefined> {
  const text = query.get(parameter);
  if (text === null) return ok(undefined);
  const choice = choices.find((each) => each === text);
  return choice === undefined
    ? invalidParameters([{ parameter, detail: `must be one of ${choices.join(', ')}` }])
    : ok(choice);
}

export type WholeRange = { readonly min: number; readonly max: number };

export const wholeParam = ({ min, max }: WholeRange, description: string) =>
  z.int().min(min).max(max).optional().openapi({ description });

/** undefined: not given. */
export function readWhole(query: URLSearchParams, parameter: string, range: WholeRange): Checked<number | undefined> {
  const text = query.get(parameter);
  if (text === null) return ok(undefined);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return value >= range.min && value <= range.max
    ? ok(value)
    : invalidParameters([{ parameter, detail: `must be a whole number from ${range.min} to ${range.max}` }]);
}

/** A 400 that names every parameter that the route does not have, or that is repeated; undefined: there is none. */
export function refusedParameters(query: URLSearchParams, known: readonly string[]): Problem | undefined {
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
