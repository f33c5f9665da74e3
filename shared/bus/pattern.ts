/**
 * EventBridge's event patterns, so that an in-process subscriber and a rule on AWS can use the same text. Pure.
 *
 * A pattern is an object, and every field in it must match. A field's value is either another object, or a list of
 * which one entry must match one leaf of the event at that place (arrays in the event are searched). `$or` holds
 * alternatives for its level. `cidr` is not supported and is rejected. Numbers are compared by value, whereas
 * EventBridge compares their digits (300 differs from 3.0e2 there).
 */
import type { Json } from '../lib/json.ts';
import { isPlainObject, type Leaf, leafTest } from './pattern-operator.ts';

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
