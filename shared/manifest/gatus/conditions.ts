/**
 * Conditions of Gatus, by the grammar of its `config/endpoint/condition.go` and `placeholder.go`: two elements around
 * an operator with a space on each side. A placeholder may be either element, in any case, within `len()` or `has()`.
 * The other may be `any()` or `pat()`.
 */
import { durationSeconds } from '../duration.ts';
import { globMatches } from './pattern.ts';

/** Operators, in the order in which Gatus looks for them. */
const operators = ['==', '!=', '<=', '>=', '>', '<'] as const;

export type Condition = {
  readonly operator: (typeof operators)[number];
  readonly elements: readonly [string, string];
};

/** What Gatus calls placeholders. Undefined: not known before the endpoint is asked. */
export type Values = { readonly [placeholder: string]: string | undefined };

/** Undefined: Gatus does not start with it. */
export function parsedCondition(text: string): Condition | undefined {
  const operator = operators.find((each) => text.includes(` ${each} `));
  if (operator === undefined) return undefined;
  // If there are more than two elements, the first two count.
  const [first = '', second = ''] = text.split(` ${operator} `).map((element) => element.trim());
  return { operator, elements: [first, second] };
}

/** The placeholders that the condition asks for, in capitals, without what follows `[BODY]`. */
export const placeholdersOf = ({ elements }: Condition): readonly string[] =>
  elements.flatMap((element) => /^\[[A-Z_]+\]/.exec(unwrapped(element).inner.toUpperCase())?.[0] ?? []);

/** Whether the condition is met; undefined: it depends on what is not known. */
export function isMet({ operator, elements }: Condition, values: Values): boolean | undefined {
  const [first, second] = elements.map((element) => resolved(element, values));
  if (first === undefined || second === undefined) return undefined;
  if (operator === '==') return equals(first, second);
  if (operator === '!=') return !equals(first, second);
  const [left, right] = [numberIn(first), numberIn(second)];
  return left === undefined || right === undefined ? undefined : compares(left, operator, right);
}

function compares(left: bigint, operator: '<' | '>' | '<=' | '>=', right: bigint): boolean {
  switch (operator) {
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '<=':
      return left <= right;
    case '>=':
      return left >= right;
  }
}

type Wrapped = { readonly by?: 'len' | 'has'; readonly inner: string };

function unwrapped(element: string): Wrapped {
  const by = (['len', 'has'] as const).find((each) => element.startsWith(`${each}(`) && element.endsWith(')'));
  return by === undefined ? { inner: element } : { by, inner: element.slice(by.length + 1, -1) };
}

const invalid = (element: string): string => `${element} (INVALID)`;

function resolved(element: string, values: Values): string | undefined {
  const { by, inner } = unwrapped(element);
  const name = inner.toUpperCase();
  if (name === '[BODY]' || /^\[BODY\][.[]/.test(name)) return resolvedBody(element, values['[BODY]']);
  if (Object.hasOwn(values, name)) return formatted(values[name], by);
  // What is no placeholder stands for itself.
  if (by === 'has') return 'false';
  return by === 'len' ? invalid(element) : element;
}

function formatted(value: string | undefined, by: Wrapped['by']): string | undefined {
  if (value === undefined || by === undefined) return value;
  return by === 'has' ? String(value !== '') : String(Buffer.byteLength(value));
}

/** Without an answer there is no body, and that of gRPC has one member. No other body is known. */
function resolvedBody(element: string, body: string | undefined): string | undefined {
  const { by, inner } = unwrapped(element);
  const path = inner.slice('[BODY]'.length);
  if (body === undefined) return undefined;
  if (path === '') return body !== '' && by === 'len' ? undefined : formatted(body, by);
  if (body === '' || (/^\.\w+$/.test(path) && !path.startsWith('.status')))
    return by === 'has' ? 'false' : invalid(element);
  if (path !== '.status') return undefined;
  const { status }: { readonly status: string } = JSON.parse(body);
  return formatted(status, by);
}

function equals(first: string, second: string): boolean {
  const [a, b] = [functionIn(first), functionIn(second)];
  if (a.name === 'pat' && b.name !== 'pat') return globMatches(a.inner, second);
  if (b.name === 'pat' && a.name !== 'pat') return globMatches(b.inner, first);
  // Two patterns lose their names and are compared; so do two lists.
  if (a.name === 'any' && b.name !== 'any') return isAmong(a.inner, second);
  if (b.name === 'any' && a.name !== 'any') return isAmong(b.inner, first);
  const [left, right] = [integerIn(a.inner), integerIn(b.inner)];
  return left !== undefined && right !== undefined ? left === right : a.inner === b.inner;
}

function functionIn(element: string): { readonly name?: 'pat' | 'any'; readonly inner: string } {
  const name = (['pat', 'any'] as const).find((each) => element.startsWith(`${each}(`) && element.endsWith(')'));
  return name === undefined ? { inner: element } : { name, inner: element.slice(name.length + 1, -1) };
}

const isAmong = (options: string, value: string): boolean =>
  options.split(',').some((option) => option.trim() === value);

const integer = /^[+-]?(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)$/;
const digitsMax = 80;
const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** As Go's `strconv.ParseInt(text, 0, 64)`. */
function integerIn(text: string): bigint | undefined {
  if (text.length > digitsMax || !integer.test(text)) return undefined;
  const digits = text.replaceAll('_', '').replace(/^[+-]/, '');
  // A leading zero means octal there.
  const magnitude = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const value = text.startsWith('-') ? -magnitude : magnitude;
  return value >= int64.min && value <= int64.max ? value : undefined;
}

/** A duration counts in milliseconds, a fraction is cut, any other text is 0. Undefined: it depends on the machine. */
function numberIn(text: string): bigint | undefined {
  const seconds = durationSeconds(text.replace(/^-/, ''));
  if (seconds !== undefined && seconds !== 0) {
    const milliseconds = BigInt(Math.trunc(Number((seconds * 1_000).toFixed(6))));
    return text.startsWith('-') ? -milliseconds : milliseconds;
  }
  const whole = integerIn(text);
  if (whole !== undefined) return whole;
  if (/^[+-]?(?:inf|infinity|nan|0x[\da-f._]+p[+-]?\d+)$/i.test(text)) return undefined;
  const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : 0;
  return Math.abs(number) < 2 ** 63 ? BigInt(Math.trunc(number)) : undefined;
}
