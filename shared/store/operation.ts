/**
 * The rules for the operations of one write, which every adapter checks before it sends anything. A violation is a bug
 * of the caller and throws.
 */

import { ownProperty } from '../lib/own-property.ts';
import type { Condition, Item, Key, Operation } from './store.ts';
import { operationsMax } from './store.ts';

/**
 * An attribute for the adapters only: the token of the write that produced the item's current state. Callers never see
 * it.
 */
export const lastWriteAttribute = 'lastWrite';

/** The table's TTL attribute, in seconds since the epoch. Correctness never depends on it. */
export const expiryAttribute = 'expiresAt';

/** DynamoDB's limits for keys, in UTF-8 bytes. */
const pkBytesMax = 2048;
export const skBytesMax = 1024;

/** DynamoDB allows 32 levels of nesting; the item counts as the first. */
const depthMax = 31;

const numberMin = 1e-130;
const numberMax = 9.9e125;

const reservedAttributes: ReadonlySet<string> = new Set(['pk', 'sk', lastWriteAttribute]);

export function operationKey(operation: Operation): Key {
  return operation.kind === 'put' ? { pk: operation.item.pk, sk: operation.item.sk } : operation.key;
}

export const keyName = (key: Key): string => JSON.stringify([key.pk, key.sk]);

/** Returns the attributes as they come back from JSON, without `undefined` at any depth. */
export function plainAttributes(attributes: { readonly [attribute: string]: unknown }): {
  [attribute: string]: unknown;
} {
  return JSON.parse(JSON.stringify(attributes)) as { [attribute: string]: unknown };
}

/** @throws Error if the write violates a rule of DynamoDB or of the port. */
export function requireValidWrite(operations: readonly Operation[], token: string): void {
  if (token === '') throw new Error('a write needs a token');
  if (operations.length < 1 || operations.length > operationsMax)
    throw new Error(`a write has 1 to ${operationsMax} operations, not ${operations.length}`);
  if (operations.length > 1 && countKeys(operations) !== operations.length)
    throw new Error('a write touches each key once');
  for (const operation of operations) requireValidOperation(operation);
}

const countKeys = (operations: readonly Operation[]): number =>
  new Set(operations.map((operation) => keyName(operationKey(operation)))).size;

function requireValidOperation(operation: Operation): void {
  requireValidKey(operationKey(operation));
  for (const condition of operation.if ?? []) requireValidCondition(condition);
  switch (operation.kind) {
    case 'check':
      if (operation.if.length === 0) throw new Error('a check needs a condition');
      return;
    case 'put':
      requireValidAttributes(attributesOf(operation.item));
      return;
    case 'update':
      requireValidUpdate(operation);
      return;
    case 'delete':
      return;
  }
}

function requireValidKey(key: Key): void {
  if (key.pk === '' || key.sk === '') throw new Error('a key has no empty part');
  if (Buffer.byteLength(key.pk) > pkBytesMax || Buffer.byteLength(key.sk) > skBytesMax)
    throw new Error(`a key has at most ${pkBytesMax} and ${skBytesMax} bytes`);
}

function requireValidCondition(condition: Condition): void {
  if (condition.kind !== 'anyOf') return;
  if (condition.conditions.length === 0) throw new Error('anyOf needs a condition');
  for (const inner of condition.conditions) requireValidCondition(inner);
}

function requireValidUpdate(operation: Operation & { readonly kind: 'update' }): void {
  const { set = {}, remove = [], add = {} } = operation;
  const others = [...remove, ...Object.keys(add)];
  const isTwice = (name: string, index: number) =>
    ownProperty(set, name) !== undefined || others.indexOf(name) !== index;
  if (others.some(isTwice)) throw new Error('an update names each attribute once');
  requireValidAttributes(set);
  requireValidAttributes(add);
  requireUnreserved(remove);
}

function requireValidAttributes(attributes: { readonly [attribute: string]: unknown }): void {
  const names = Object.keys(attributes);
  requireUnreserved(names);
  for (const name of names) requireStorable(attributes[name], 1);
}

function requireUnreserved(names: readonly string[]): void {
  const reserved = names.find((name) => name === '' || reservedAttributes.has(name));
  if (reserved !== undefined) throw new Error(`attribute name '${reserved}' is reserved`);
}

function requireStorable(value: unknown, depth: number): void {
  if (depth > depthMax) throw new Error(`an item has at most ${depthMax} levels`);
  if (typeof value === 'number' && !isStorableNumber(value)) throw new Error(`the number ${value} cannot be stored`);
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) requireStorable(inner, depth + 1);
}

/** DynamoDB's range of numbers; JSON has no infinity. */
function isStorableNumber(value: number): boolean {
  const size = Math.abs(value);
  return value === 0 || (size >= numberMin && size <= numberMax);
}

/** Returns the attributes of an item without its key. */
export function attributesOf(item: Item): { readonly [attribute: string]: unknown } {
  const { pk: _pk, sk: _sk, ...attributes } = item;
  return attributes;
}

export function definedOf<Value>(attributes: { readonly [attribute: string]: Value | undefined }): {
  [attribute: string]: Value;
} {
  const entries = Object.entries(attributes).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
