/** Every condition on every kind of stored value. */
import type { Condition } from '../../shared/store/store.ts';

export type ConditionCase = {
  readonly name: string;
  /** Absent: there is no item. */
  readonly stored?: { readonly [attribute: string]: unknown };
  readonly conditions: readonly Condition[];
  readonly holds: boolean;
};

const equals = (value: string | number | boolean): Condition => ({ kind: 'equals', attribute: 'x', value });
const notEquals = (value: string | number | boolean): Condition => ({ kind: 'notEquals', attribute: 'x', value });
const lessThan = (value: number): Condition => ({ kind: 'lessThan', attribute: 'x', value });
const absent: Condition = { kind: 'absent', attribute: 'x' };
const exists: Condition = { kind: 'exists' };
const notExists: Condition = { kind: 'notExists' };
const anyOf = (...conditions: readonly Condition[]): Condition => ({ kind: 'anyOf', conditions });

const held = (name: string, conditions: readonly Condition[], stored?: ConditionCase['stored']): ConditionCase => ({
  name,
  conditions,
  holds: true,
  ...(stored && { stored }),
});
const failed = (name: string, conditions: readonly Condition[], stored?: ConditionCase['stored']): ConditionCase => ({
  ...held(name, conditions, stored),
  holds: false,
});

export const conditionCases: readonly ConditionCase[] = [
  held('exists, an item without attributes', [exists], {}),
  failed('exists, no item', [exists]),
  held('notExists, no item', [notExists]),
  failed('notExists, an item', [notExists], {}),

  held('equals, the same number', [equals(1)], { x: 1 }),
  failed('equals, another number', [equals(1)], { x: 2 }),
  held('equals, the same text', [equals('a')], { x: 'a' }),
  failed('equals, text in another case', [equals('a')], { x: 'A' }),
  held('equals, the empty text', [equals('')], { x: '' }),
  held('equals, false', [equals(false)], { x: false }),
  failed('equals, the text of the number', [equals(1)], { x: '1' }),
  failed('equals, 0 and false', [equals(0)], { x: false }),
  failed('equals, null', [equals('')], { x: null }),
  failed('equals, an absent attribute', [equals(1)], {}),
  failed('equals, no item', [equals(1)]),

  held('notEquals, another number', [notEquals(1)], { x: 2 }),
  failed('notEquals, the same number', [notEquals(1)], { x: 1 }),
  failed('notEquals, the same text', [notEquals('a')], { x: 'a' }),
  held('notEquals, another type', [notEquals(1)], { x: '1' }),
  held('notEquals, null', [notEquals(1)], { x: null }),
  held('notEquals, an absent attribute', [notEquals(1)], {}),
  held('notEquals, no item', [notEquals(1)]),

  held('lessThan, less', [lessThan(2)], { x: 1 }),
  failed('lessThan, equal', [lessThan(2)], { x: 2 }),
  failed('lessThan, more', [lessThan(2)], { x: 10 }),
  held('lessThan, negative', [lessThan(0)], { x: -0.5 }),
  failed('lessThan, text', [lessThan(2)], { x: '1' }),
  failed('lessThan, an absent attribute', [lessThan(2)], {}),
  failed('lessThan, no item', [lessThan(2)]),

  held('absent, an absent attribute', [absent], {}),
  held('absent, no item', [absent]),
  failed('absent, a value', [absent], { x: 0 }),
  failed('absent, null', [absent], { x: null }),

  held('anyOf, the first', [anyOf(equals(1), equals(2))], { x: 1 }),
  held('anyOf, the last', [anyOf(equals(1), equals(2))], { x: 2 }),
  failed('anyOf, none', [anyOf(equals(1), equals(2))], { x: 3 }),
  held('anyOf, an epoch that is lower', [anyOf(absent, lessThan(7), equals(7))], { x: 6 }),
  held('anyOf, an epoch of mine', [anyOf(absent, lessThan(7), equals(7))], { x: 7 }),
  failed('anyOf, an epoch that is higher', [anyOf(absent, lessThan(7), equals(7))], { x: 8 }),
  held('anyOf, no epoch yet', [anyOf(absent, lessThan(7), equals(7))]),
  held('anyOf in anyOf', [anyOf(equals(9), anyOf(equals(1)))], { x: 1 }),

  held('several that hold', [exists, equals(1), lessThan(2)], { x: 1 }),
  failed('several of which one fails', [exists, equals(1), lessThan(1)], { x: 1 }),
  failed('anyOf beside one that fails', [anyOf(equals(1), equals(2)), notEquals(1)], { x: 1 }),
  held('equals on one and absent on another attribute', [equals(1), { kind: 'absent', attribute: 'y' }], { x: 1 }),
];
