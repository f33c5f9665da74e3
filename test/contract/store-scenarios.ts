/** Courses of writes as the product makes them, for the contract and for runs under faults. */
import type { Condition, Item, Operation, Store, WriteOutcome } from '../../shared/store/store.ts';

export type Step = {
  readonly operations: readonly Operation[];
  readonly token: string;
  readonly expected: WriteOutcome['kind'];
};

export type Scenario = {
  readonly name: string;
  /** All items in one partition; tokens are unique to it. */
  readonly steps: (pk: string) => readonly Step[];
};

export async function outcomesOf(store: Store, steps: readonly Step[]): Promise<readonly WriteOutcome[]> {
  const outcomes: WriteOutcome[] = [];
  for (const { operations, token } of steps) outcomes.push(await store.write(operations, { token }));
  return outcomes;
}

const versionIs = (value: number): readonly Condition[] => [{ kind: 'equals', attribute: 'version', value }];
const mine = (token: number): readonly Condition[] => [{ kind: 'equals', attribute: 'token', value: token }];
const claimable = (token: number): readonly Condition[] => [
  {
    kind: 'anyOf',
    conditions: [
      { kind: 'absent', attribute: 'token' },
      { kind: 'lessThan', attribute: 'token', value: token },
      { kind: 'equals', attribute: 'token', value: token },
    ],
  },
];

type Write = readonly [expected: WriteOutcome['kind'], ...operations: Operation[]];

const scenario = (name: string, writes: (item: typeof itemIn, pk: string) => readonly Write[]): Scenario => ({
  name,
  steps: (pk) =>
    writes(itemIn, pk).map(([expected, ...operations], index) => ({ expected, operations, token: `${pk}-${index}` })),
});

const itemIn = (pk: string, sk: string, attributes: { readonly [attribute: string]: unknown } = {}): Item =>
  ({ ...attributes, pk, sk }) as Item;

export const writeScenarios: readonly Scenario[] = [
  scenario('an item is created, refused a second creation, changed by its version and deleted', (item, pk) => [
    ['written', { kind: 'put', item: item(pk, 'a', { version: 1 }), if: [{ kind: 'notExists' }] }],
    ['refused', { kind: 'put', item: item(pk, 'a', { version: 9 }), if: [{ kind: 'notExists' }] }],
    ['written', { kind: 'update', key: { pk, sk: 'a' }, set: { version: 2 }, if: versionIs(1) }],
    ['refused', { kind: 'update', key: { pk, sk: 'a' }, set: { version: 2 }, if: versionIs(1) }],
    ['written', { kind: 'put', item: item(pk, 'b'), if: [{ kind: 'notExists' }] }],
    ['written', { kind: 'delete', key: { pk, sk: 'a' }, if: versionIs(2) }],
    ['refused', { kind: 'delete', key: { pk, sk: 'a' }, if: versionIs(2) }],
  ]),

  scenario('a target is registered, probed under a fence, synced and purged', (item, pk) => [
    [
      'written',
      { kind: 'put', item: item(pk, 'TARGET', { uid: 'u' }), if: [{ kind: 'notExists' }] },
      { kind: 'put', item: item(pk, 'STATUS', { uid: 'u', version: 0 }), if: [{ kind: 'notExists' }] },
      { kind: 'put', item: item(pk, 'PROBE', { uid: 'u', version: 0 }), if: [{ kind: 'notExists' }] },
    ],
    ['written', { kind: 'update', key: { pk, sk: 'EPOCH' }, set: { token: 4 }, if: claimable(4) }],
    [
      'written',
      { kind: 'check', key: { pk, sk: 'EPOCH' }, if: mine(4) },
      { kind: 'update', key: { pk, sk: 'PROBE' }, set: { result: 'success' }, add: { version: 1 }, if: versionIs(0) },
      { kind: 'put', item: item(pk, 'EVENT#1', { reason: 'Ready' }) },
    ],
    ['written', { kind: 'update', key: { pk, sk: 'STATUS' }, set: { version: 1 }, if: versionIs(0) }],
    ['written', { kind: 'update', key: { pk, sk: 'EPOCH' }, set: { token: 5 }, if: claimable(5) }],
    [
      'refused',
      { kind: 'check', key: { pk, sk: 'EPOCH' }, if: mine(4) },
      { kind: 'update', key: { pk, sk: 'PROBE' }, set: { result: 'failure' }, add: { version: 1 }, if: versionIs(1) },
    ],
    [
      'written',
      { kind: 'delete', key: { pk, sk: 'TARGET' }, if: [{ kind: 'equals', attribute: 'uid', value: 'u' }] },
      { kind: 'delete', key: { pk, sk: 'STATUS' }, if: [{ kind: 'equals', attribute: 'uid', value: 'u' }] },
      { kind: 'delete', key: { pk, sk: 'PROBE' }, if: [{ kind: 'equals', attribute: 'uid', value: 'u' }] },
    ],
    ['refused', { kind: 'update', key: { pk, sk: 'PROBE' }, set: { version: 2 }, if: [{ kind: 'exists' }] }],
  ]),

  scenario('counters grow by one with each addition', (_, pk) => [
    ['written', { kind: 'update', key: { pk, sk: 'CHANGES' }, add: { '0a': 1 } }],
    ['written', { kind: 'update', key: { pk, sk: 'CHANGES' }, add: { '0a': 1, '0b': 1 } }],
    [
      'written',
      { kind: 'update', key: { pk, sk: 'CHANGES' }, add: { '0a': 1 } },
      { kind: 'update', key: { pk, sk: 'LAYOUT' }, add: { token: 1 } },
    ],
    ['written', { kind: 'update', key: { pk, sk: 'LAYOUT' }, add: { token: 1 }, if: [{ kind: 'exists' }] }],
  ]),

  scenario('whole items are replaced and removed without a condition', (item, pk) => [
    ['written', { kind: 'put', item: item(pk, 'a', { x: 1 }) }],
    ['written', { kind: 'put', item: item(pk, 'b', { x: 1 }) }],
    ['written', { kind: 'put', item: item(pk, 'a', { y: 2 }) }],
    ['written', { kind: 'delete', key: { pk, sk: 'b' } }],
    ['written', { kind: 'check', key: { pk, sk: 'b' }, if: [{ kind: 'notExists' }] }],
    ['written', { kind: 'delete', key: { pk, sk: 'b' } }, { kind: 'put', item: item(pk, 'c') }],
  ]),
];
