/**
 * EventBridge's event patterns, so that an in-process subscriber and a rule on AWS can use the same text. Pure.
 *
 * A pattern is an object, and every field in it must match. A field's value is either another object, or a list of
 * which one entry must match one leaf of the event at that place (arrays in the event are searched). `$or` holds
 * alternatives for its level. `cidr` is not supported and is rejected. Numbers are compared by value, whereas
 * EventBridge compares their digits (300 differs from 3.0e2 there).
 */
import type { Json } from '../lib/json.ts';

/** An invalid pattern, with the JSON Pointer of the error. */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern';
  readonly pointer: string;
  constructor(pointer: string, reason: string) {
    super(`Event pattern is not valid at ${pointer === '' ? 'its root' : pointer}: ${reason}`);
    this.pointer = pointer;
  }
}

export type Matches = (event: Json | undefined) => boolean;

/** EventBridge's limit for one pattern. It also bounds the nesting depth. */
export const patternCharsMax = 4096;

/** Compiles a pattern to a test. Throws `InvalidPattern`. */
export function compilePattern(pattern: unknown): Matches {
  const chars = JSON.stringify(pattern)?.length ?? 0;
  if (chars > patternCharsMax) throw new InvalidPattern('', `longer than ${patternCharsMax} characters`);
  return compileFields(pattern, '');
}

function compileFields(pattern: unknown, pointer: string): Matches {
  if (!isPlainObject(pattern)) throw new InvalidPattern(pointer, 'must be an object or a non-empty array');
  const fields = Object.entries(pattern);
  if (fields.length === 0) throw new InvalidPattern(pointer, 'empty objects are not allowed');
  const tests = fields.map(([name, value]) => compileField(name, value, `${pointer}/${escaped(name)}`));
  const matchesOne: Matches = (value) => tests.every((matches) => matches(value));
  // EventBridge's array consistency: a single element must satisfy all fields of the pattern below.
  return (value) => {
    const elements = elementsOf(value);
    return elements.length === 0 ? matchesOne(undefined) : elements.some(matchesOne);
  };
}

function compileField(name: string, value: unknown, pointer: string): Matches {
  if (name === '$or') return compileOr(value, pointer);
  const matches = Array.isArray(value) ? compileLeaves(value, pointer) : compileFields(value, pointer);
  return (parent) => matches(isPlainObject(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined);
}

function compileOr(value: unknown, pointer: string): Matches {
  if (!Array.isArray(value) || value.length < 2)
    throw new InvalidPattern(pointer, '$or must be an array of at least two objects');
  const tests = value.map((alternative, index) => compileFields(alternative, `${pointer}/${index}`));
  return (parent) => tests.some((matches) => matches(parent));
}

function compileLeaves(entries: readonly unknown[], pointer: string): Matches {
  if (entries.length === 0) throw new InvalidPattern(pointer, 'empty arrays are not allowed');
  const tests = entries.map((entry, index) => {
    const test = leafTest(entry);
    if (test.kind === 'invalid') throw new InvalidPattern(`${pointer}/${index}`, test.reason);
    return test;
  });
  return (value) => {
    const leaves = leavesOf(value);
    return tests.some((test) => (test.kind === 'absent' ? leaves.length === 0 : leaves.some(test.matches)));
  };
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

function elementsOf(value: Json | undefined): readonly (Json | undefined)[] {
  return Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value];
}

/** Excludes intermediate objects: EventBridge documents that `exists` considers leaves only. */
function leavesOf(value: Json | undefined): readonly Leaf[] {
  return elementsOf(value).filter((element): element is Leaf => element !== undefined && !isPlainObject(element));
}

// Tests for one entry of a leaf list in an event pattern: a literal, or an object with one operator. Pure.

export type Leaf = string | number | boolean | null;

export type LeafTest =
  | { readonly kind: 'leaf'; readonly matches: (leaf: Leaf) => boolean }
  /** `exists: false` matches if there is no leaf. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'invalid'; readonly reason: string };

type Operator = (operand: unknown) => LeafTest;

export function isPlainObject(value: unknown): value is { readonly [key: string]: never } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the test for one entry of a leaf list. */
export function leafTest(entry: unknown): LeafTest {
  if (entry === null || ['string', 'number', 'boolean'].includes(typeof entry)) return leaf((value) => value === entry);
  return isPlainObject(entry) ? applied(entry, operators) : invalid('match value must be a literal or an object');
}

const leaf = (matches: (leaf: Leaf) => boolean): LeafTest => ({ kind: 'leaf', matches });
const text = (matches: (text: string) => boolean): LeafTest =>
  leaf((value) => typeof value === 'string' && matches(value));
const invalid = (reason: string): LeafTest => ({ kind: 'invalid', reason });

function applied(entry: { readonly [key: string]: unknown }, known: ReadonlyMap<string, Operator>): LeafTest {
  const [name, ...others] = Object.keys(entry);
  if (name === undefined || others.length > 0) return invalid('only one key is allowed in a match expression');
  const operator = known.get(name);
  return operator ? operator(entry[name]) : invalid(`unrecognized match type ${name}`);
}

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['prefix', (operand) => affix('prefix', operand)],
  ['suffix', (operand) => affix('suffix', operand)],
  ['equals-ignore-case', (operand) => ofString('equals-ignore-case', operand, equalsIgnoreCase)],
  ['wildcard', (operand) => wildcard(operand)],
  ['numeric', (operand) => numeric(operand)],
  ['exists', (operand) => exists(operand)],
  ['anything-but', (operand) => anythingBut(operand)],
]);

type TextTest = (operand: string) => (text: string) => boolean;
const startsWith: TextTest = (operand) => (value) => value.startsWith(operand);
const endsWith: TextTest = (operand) => (value) => value.endsWith(operand);
const equalsIgnoreCase: TextTest = (operand) => (value) => value.toLowerCase() === operand.toLowerCase();
const ignoringCase =
  (test: TextTest): TextTest =>
  (operand) =>
  (value) =>
    test(operand.toLowerCase())(value.toLowerCase());

function ofString(name: string, operand: unknown, test: TextTest): LeafTest {
  return typeof operand === 'string' && operand !== ''
    ? text(test(operand))
    : invalid(`${name} must be a non-empty string`);
}

function affix(name: 'prefix' | 'suffix', operand: unknown): LeafTest {
  const test = name === 'prefix' ? startsWith : endsWith;
  if (!isPlainObject(operand)) return ofString(name, operand, test);
  const nested = (inner: unknown) => ofString('equals-ignore-case', inner, ignoringCase(test));
  return applied(operand, new Map([['equals-ignore-case', nested]]));
}

function exists(operand: unknown): LeafTest {
  if (typeof operand !== 'boolean') return invalid('exists must be true or false');
  return operand ? leaf(() => true) : { kind: 'absent' };
}

/** Matches a leaf that exists and equals none of the literals or, with nested operators, matches none of them. */
function anythingBut(operand: unknown): LeafTest {
  if (isPlainObject(operand)) return applied(operand, excluding);
  const excluded = Array.isArray(operand) ? operand : [operand];
  const first = typeof excluded[0];
  const uniform = (first === 'string' || first === 'number') && excluded.every((value) => typeof value === first);
  if (!uniform) return invalid('anything-but must be strings only or numbers only, and not empty');
  return leaf((value) => !excluded.includes(value));
}

const excluding: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['prefix', (operand) => noneOf(operand, (each) => ofString('prefix', each, startsWith))],
  ['suffix', (operand) => noneOf(operand, (each) => ofString('suffix', each, endsWith))],
  [
    'equals-ignore-case',
    (operand) => noneOf(operand, (each) => ofString('equals-ignore-case', each, equalsIgnoreCase)),
  ],
  ['wildcard', (operand) => noneOf(operand, wildcard)],
]);

function noneOf(operand: unknown, operator: Operator): LeafTest {
  const each = Array.isArray(operand) ? operand : [operand];
  if (each.length === 0) return invalid('anything-but must not be empty');
  const tests: ((value: Leaf) => boolean)[] = [];
  for (const test of each.map(operator)) {
    if (test.kind !== 'leaf') return test;
    tests.push(test.matches);
  }
  return leaf((value) => !tests.some((matches) => matches(value)));
}

type Comparison = (value: number) => boolean;
const comparisons: ReadonlyMap<unknown, (bound: number) => Comparison> = new Map([
  ['=', (bound: number) => (value: number) => value === bound],
  ['<', (bound: number) => (value: number) => value < bound],
  ['<=', (bound: number) => (value: number) => value <= bound],
  ['>', (bound: number) => (value: number) => value > bound],
  ['>=', (bound: number) => (value: number) => value >= bound],
]);
/** EventBridge's range of numbers. */
const numericMax = 5e9;
const numericShape =
  'numeric must be [operator, number] with =, <, <=, > or >=, or a range: > or >= with a bound, then < or <= with a greater one';

function numeric(operand: unknown): LeafTest {
  if (!Array.isArray(operand) || (operand.length !== 2 && operand.length !== 4)) return invalid(numericShape);
  const [operator, bound, upperOperator, upper] = operand;
  const first = comparison(operator, bound);
  if (!first) return invalid(numericShape);
  if (operand.length === 2) return leaf((value) => typeof value === 'number' && first(value));
  const second = comparison(upperOperator, upper);
  const isRange = `${operator}`.startsWith('>') && `${upperOperator}`.startsWith('<') && bound < upper;
  if (!second || !isRange) return invalid(numericShape);
  return leaf((value) => typeof value === 'number' && first(value) && second(value));
}

function comparison(operator: unknown, bound: unknown): Comparison | undefined {
  if (typeof bound !== 'number' || Math.abs(bound) > numericMax) return undefined;
  return comparisons.get(operator)?.(bound);
}

/** `*` matches any characters; `\*` and `\\` match the characters themselves. */
function wildcard(operand: unknown): LeafTest {
  if (typeof operand !== 'string' || operand === '') return invalid('wildcard must be a non-empty string');
  const parts = wildcardParts(operand);
  return parts.kind === 'invalid' ? parts : text((value) => matchesParts(parts.parts, value));
}

type Parts = { readonly kind: 'parts'; readonly parts: readonly string[] };

function wildcardParts(pattern: string): Parts | Extract<LeafTest, { kind: 'invalid' }> {
  const parts: string[] = [''];
  const append = (char: string) => parts.push(`${parts.pop() ?? ''}${char}`);
  for (let index = 0; index < pattern.length; index += 1) {
    const char = pattern.charAt(index);
    if (char === '\\') {
      index += 1;
      const escapedChar = pattern.charAt(index);
      if (escapedChar !== '*' && escapedChar !== '\\')
        return { kind: 'invalid', reason: 'wildcard: only \\* and \\\\ may be escaped' };
      append(escapedChar);
    } else if (char !== '*') append(char);
    else if (pattern.charAt(index + 1) === '*')
      return { kind: 'invalid', reason: 'wildcard: consecutive * are not allowed' };
    else parts.push('');
  }
  return { kind: 'parts', parts };
}

/**
 * Matches the parts in order, the first at the start and the last at the end. Linear, because the leftmost match of
 * each middle part suffices.
 */
function matchesParts(parts: readonly string[], value: string): boolean {
  const first = parts[0] ?? '';
  const last = parts[parts.length - 1] ?? '';
  if (parts.length === 1) return value === first;
  if (value.length < first.length + last.length || !value.startsWith(first) || !value.endsWith(last)) return false;
  const end = value.length - last.length;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = value.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
