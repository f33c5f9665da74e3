/** Query parameters: decoded, or a 400 that names the invalid one. */
import '../zod-openapi.ts';
import * as z from 'zod';
import { type Checked, invalidParameters, ok } from './problem.ts';

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
