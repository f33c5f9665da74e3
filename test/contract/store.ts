/** What every store has to do: the rules of shared/store/store.ts, one by one. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type Condition,
  type Item,
  type Key,
  type Operation,
  operationsMax,
  type Store,
  type WriteOutcome,
} from '../../shared/store/store.ts';
import { column } from '../support/columns.ts';
import { testsIn } from '../support/tests-in.ts';
import { conditionCases } from './store-conditions.ts';
import { nameTests } from './store-names.ts';
import { outcomesOf, writeScenarios } from './store-scenarios.ts';

export type OpenedStore = { readonly store: Store; close(): void | Promise<void> };

/** Registers the contract's tests for one adapter. Each test has a partition of its own. */
export function storeContract(title: string, open: () => OpenedStore | Promise<OpenedStore>): void {
  describe(`${title} keeps the contract of a store`, () => {
    let opened: OpenedStore;
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());
    const use = (): Bench => bench(opened.store);
    describe('reading', () => readingTests(use));
    describe('one operation', () => operationTests(use));
    describe('conditions', () => conditionTests(use));
    describe('transactions', () => transactionTests(use));
    describe('tokens', () => tokenTests(use));
    describe('values', () => valueTests(use));
    describe('names', () => nameTests(use));
    describe('concurrent writers', () => concurrencyTests(use));
    describe('bugs of the caller throw', () => bugTests(use));
    describe('scenarios', () => scenarioTests(use));
  });
}

type Bench = {
  readonly store: Store;
  readonly pk: string;
  key(sk: string): Key;
  item(sk: string, attributes?: { readonly [attribute: string]: unknown }): Item;
  put(sk: string, attributes?: { readonly [attribute: string]: unknown }): Promise<Item>;
  write(...operations: readonly Operation[]): Promise<WriteOutcome>;
  get(sk: string): Promise<Item | undefined>;
  all(): Promise<readonly Item[]>;
};

let partitions = 0;
let tokens = 0;

const newToken = (): string => {
  tokens += 1;
  return `token-${process.pid}-${tokens}`;
};

function bench(store: Store): Bench {
  partitions += 1;
  const pk = `P#${process.pid}#${partitions}`;
  const key = (sk: string): Key => ({ pk, sk });
  const item: Bench['item'] = (sk, attributes = {}) => ({ ...attributes, pk, sk }) as Item;
  const write: Bench['write'] = (...operations) => store.write(operations, { token: newToken() });
  const put: Bench['put'] = async (sk, attributes) => {
    const made = item(sk, attributes);
    assert.deepEqual(await write({ kind: 'put', item: made }), { kind: 'written' });
    return made;
  };
  return { store, pk, key, item, put, write, get: (sk) => store.get(key(sk)), all: () => store.query({ pk }) };
}

const exists: readonly Condition[] = [{ kind: 'exists' }];
const notExists: readonly Condition[] = [{ kind: 'notExists' }];
const versionIs = (value: number): readonly Condition[] => [{ kind: 'equals', attribute: 'version', value }];

const refusedWith = (index: number, item?: Item): WriteOutcome => ({
  kind: 'refused',
  refusals: [{ index, kind: 'condition', ...(item && { item }) }],
});

function readingTests(use: () => Bench): void {
  const rule = testsIn(use);
  rule('an item comes back as it was put, and nothing of the adapter with it', async ({ put, get }) => {
    const item = await put('a', { text: 'x', nested: { list: [1, 'two', null, true, { deep: [] }] } });
    assert.deepEqual(await get('a'), item);
  });

  rule('what is not there is undefined', async ({ get, all }) => {
    assert.equal(await get('a'), undefined);
    assert.deepEqual(await all(), []);
  });

  rule('an eventually consistent read answers too', async ({ store, put, key, pk }) => {
    const item = await put('a');
    assert.deepEqual(await store.get(key('a'), { eventuallyConsistent: true }), item);
    assert.deepEqual(await store.query({ pk, eventuallyConsistent: true }), [item]);
  });

  const sortKeysOf = async (bench: Bench, query: object): Promise<readonly string[]> =>
    (await bench.store.query({ pk: bench.pk, ...query })).map((item) => item.sk);

  const filled = async (...sortKeys: readonly string[]): Promise<Bench> => {
    const made = use();
    for (const sk of sortKeys) await made.put(sk);
    return made;
  };

  test('a query answers in sort-key order, newest first if asked', async () => {
    const made = await filled('b', 'a', 'c');
    assert.deepEqual(await sortKeysOf(made, {}), ['a', 'b', 'c']);
    assert.deepEqual(await sortKeysOf(made, { descending: true }), ['c', 'b', 'a']);
  });

  test('both bounds of a query are inclusive, each may be missing', async () => {
    const made = await filled('a', 'b', 'c', 'd');
    assert.deepEqual(await sortKeysOf(made, { from: 'b', to: 'c' }), ['b', 'c']);
    assert.deepEqual(await sortKeysOf(made, { from: 'b' }), ['b', 'c', 'd']);
    assert.deepEqual(await sortKeysOf(made, { to: 'b' }), ['a', 'b']);
    assert.deepEqual(await sortKeysOf(made, { from: 'bb', to: 'bbb' }), []);
    assert.deepEqual(await sortKeysOf(made, { from: '' }), ['a', 'b', 'c', 'd']);
  });

  test('bounds that cross or are empty select nothing', async () => {
    const made = await filled('a', 'b');
    assert.deepEqual(await sortKeysOf(made, { from: 'b', to: 'a' }), []);
    assert.deepEqual(await sortKeysOf(made, { to: '' }), []);
  });

  test('a limit takes the first of the order', async () => {
    const made = await filled('a', 'b', 'c');
    assert.deepEqual(await sortKeysOf(made, { limit: 2 }), ['a', 'b']);
    assert.deepEqual(await sortKeysOf(made, { limit: 2, descending: true }), ['c', 'b']);
    assert.deepEqual(await sortKeysOf(made, { limit: 9 }), ['a', 'b', 'c']);
    assert.deepEqual(await sortKeysOf(made, { limit: 0 }), []);
  });

  test('sort keys are ordered by their UTF-8 bytes', async () => {
    const made = await filled('\u{1f600}', '\uffee', 'z', 'é', 'Z', '~', '#', '10', '9');
    const inOrder = ['#', '10', '9', 'Z', 'z', '~', 'é', '\uffee', '\u{1f600}'];
    assert.deepEqual(await sortKeysOf(made, {}), inOrder);
    assert.deepEqual(await sortKeysOf(made, { from: 'z', to: 'z\u{10ffff}' }), ['z']);
    assert.deepEqual(await sortKeysOf(made, { from: '\uffee', to: '\u{1f600}' }), ['\uffee', '\u{1f600}']);
  });

  test('partitions do not see each other', async () => {
    const one = await filled('a');
    const other = await filled('b');
    assert.deepEqual(await sortKeysOf(one, {}), ['a']);
    assert.deepEqual(await sortKeysOf(other, {}), ['b']);
  });

  rule('a query of several megabytes is whole, with and without a limit', async (made) => {
    const sortKeys = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, '0'));
    for (const sk of sortKeys) await made.put(sk, { blob: 'x'.repeat(250_000) });
    assert.deepEqual(await sortKeysOf(made, {}), sortKeys);
    assert.deepEqual(await sortKeysOf(made, { limit: 10 }), sortKeys.slice(0, 10));
    assert.deepEqual(await sortKeysOf(made, { descending: true }), sortKeys.toReversed());
  });
}

function operationTests(use: () => Bench): void {
  const rule = testsIn(use);
  rule('a put replaces the whole item', async ({ put, get }) => {
    await put('a', { old: 1 });
    const item = await put('a', { fresh: 1 });
    assert.deepEqual(await get('a'), item);
  });

  rule('undefined attributes are not stored, at any depth', async ({ put, get, item }) => {
    await put('a', { gone: undefined, nested: { gone: undefined, kept: 1 } });
    assert.deepEqual(await get('a'), item('a', { nested: { kept: 1 } }));
  });

  rule('an update sets, removes and adds, and answers the new item', async ({ put, get, write, key, item }) => {
    await put('a', { kept: 'k', changed: 1, removed: 1, counter: 5 });
    const outcome = await write({
      kind: 'update',
      key: key('a'),
      set: { changed: { now: ['a', 'map'] }, fresh: '', skipped: undefined },
      remove: ['removed', 'neverThere'],
      add: { counter: 2, other: -1.5 },
    });
    const expected = item('a', { kept: 'k', changed: { now: ['a', 'map'] }, fresh: '', counter: 7, other: -1.5 });
    assert.deepEqual(outcome, { kind: 'written', item: expected });
    assert.deepEqual(await get('a'), expected);
  });

  rule('an update of nothing makes the item', async ({ get, write, key, item }) => {
    const outcome = await write({ kind: 'update', key: key('a'), add: { counter: 1 } });
    assert.deepEqual(outcome, { kind: 'written', item: item('a', { counter: 1 }) });
    assert.deepEqual(await get('a'), item('a', { counter: 1 }));
  });

  rule('an update that leaves undefined what it sets leaves what was there', async ({ put, get, write, key }) => {
    const item = await put('a', { x: 1 });
    await write({ kind: 'update', key: key('a'), set: { x: undefined } });
    assert.deepEqual(await get('a'), item);
  });

  test('words that DynamoDB reserves and odd names are attribute names like others', async () => {
    const { write, get, key, item } = use();
    const set = { name: 1, status: 'x', 'a.b': 2, 'c[0]': 3, '0a': 4, 'with space': 5, '#x': 6, ':y': 7, ünï: 8 };
    await write({ kind: 'update', key: key('a'), set, add: { size: 1 } });
    const conditions: readonly Condition[] = [
      { kind: 'equals', attribute: 'a.b', value: 2 },
      { kind: 'notEquals', attribute: 'status', value: 'y' },
      { kind: 'lessThan', attribute: '0a', value: 5 },
    ];
    await write({ kind: 'update', key: key('a'), remove: ['name', 'c[0]'], if: conditions });
    const { name: _name, 'c[0]': _c, ...rest } = set;
    assert.deepEqual(await get('a'), item('a', { ...rest, size: 1 }));
  });

  rule('a delete removes, and removing nothing is fine', async ({ put, get, write, key }) => {
    await put('a');
    assert.deepEqual(await write({ kind: 'delete', key: key('a') }), { kind: 'written' });
    assert.equal(await get('a'), undefined);
    assert.deepEqual(await write({ kind: 'delete', key: key('a') }), { kind: 'written' });
  });

  rule('a check alone says whether a condition holds', async ({ put, write, key }) => {
    const item = await put('a', { version: 1 });
    assert.deepEqual(await write({ kind: 'check', key: key('a'), if: versionIs(1) }), { kind: 'written' });
    assert.deepEqual(await write({ kind: 'check', key: key('a'), if: versionIs(2) }), refusedWith(0, item));
    assert.deepEqual(await write({ kind: 'check', key: key('b'), if: exists }), refusedWith(0));
  });
}

function conditionTests(use: () => Bench): void {
  for (const { name, stored, conditions, holds } of conditionCases)
    test(`${name}: ${holds ? 'holds' : 'does not hold'}`, async () => {
      for (const kind of ['check', 'put', 'update', 'delete'] as const) {
        const { put, write, key, item, get } = use();
        const before = stored && (await put('a', stored));
        const operations = {
          check: { kind: 'check', key: key('a'), if: conditions },
          put: { kind: 'put', item: item('a', { put: 1 }), if: conditions },
          update: { kind: 'update', key: key('a'), set: { put: 1 }, if: conditions },
          delete: { kind: 'delete', key: key('a'), if: conditions },
        } as const satisfies { readonly [kind: string]: Operation };
        const outcome = await write(operations[kind]);
        if (holds) assert.equal(outcome.kind, 'written', kind);
        else {
          assert.deepEqual(outcome, refusedWith(0, before), kind);
          assert.deepEqual(await get('a'), before, kind);
        }
      }
    });
}

function transactionTests(use: () => Bench): void {
  const rule = testsIn(use);
  rule('operations of every kind are applied together', async ({ put, write, key, item, all }) => {
    await put('fence', { token: 7 });
    await put('updated', { version: 1 });
    await put('deleted');
    const outcome = await write(
      { kind: 'check', key: key('fence'), if: [{ kind: 'equals', attribute: 'token', value: 7 }] },
      { kind: 'put', item: item('created', { x: 1 }), if: notExists },
      { kind: 'update', key: key('updated'), set: { version: 2 }, add: { n: 1 }, if: versionIs(1) },
      { kind: 'delete', key: key('deleted'), if: exists },
    );
    assert.deepEqual(outcome, { kind: 'written' });
    const expected = [item('created', { x: 1 }), item('fence', { token: 7 }), item('updated', { version: 2, n: 1 })];
    assert.deepEqual(await all(), expected);
  });

  test('one refused operation refuses all, and the refusal names it and what stands there', async () => {
    const { put, write, key, item, all } = use();
    const fence = await put('fence', { token: 8 });
    const other = await put('updated', { version: 1 });
    const outcome = await write(
      { kind: 'put', item: item('created'), if: notExists },
      { kind: 'check', key: key('fence'), if: [{ kind: 'equals', attribute: 'token', value: 7 }] },
      { kind: 'update', key: key('updated'), set: { version: 2 }, if: versionIs(1) },
    );
    assert.deepEqual(outcome, refusedWith(1, fence));
    assert.deepEqual(await all(), [fence, other]);
  });

  rule('every refused operation is named, with nothing where nothing stands', async ({ put, write, key, item }) => {
    const there = await put('there');
    const outcome = await write(
      { kind: 'put', item: item('there'), if: notExists },
      { kind: 'put', item: item('fine') },
      { kind: 'update', key: key('missing'), set: { x: 1 }, if: exists },
      { kind: 'delete', key: key('missingToo'), if: exists },
    );
    assert.deepEqual(outcome, {
      kind: 'refused',
      refusals: [
        { index: 0, kind: 'condition', item: there },
        { index: 2, kind: 'condition' },
        { index: 3, kind: 'condition' },
      ],
    });
  });

  rule('as many operations as DynamoDB allows', async ({ write, item, all }) => {
    const items = Array.from({ length: operationsMax }, (_, index) => item(String(index).padStart(3, '0'), { index }));
    assert.deepEqual(await write(...items.map((one) => ({ kind: 'put', item: one }) as const)), { kind: 'written' });
    assert.deepEqual(await all(), items);
  });

  test('operations on several partitions', async () => {
    const [one, other] = [use(), use()];
    await one.write({ kind: 'put', item: one.item('a') }, { kind: 'put', item: other.item('a') });
    assert.deepEqual([await one.all(), await other.all()], [[one.item('a')], [other.item('a')]]);
  });
}

function tokenTests(use: () => Bench): void {
  const rule = testsIn(use);
  const twice = async ({ store }: Bench, operations: readonly Operation[]): Promise<readonly WriteOutcome[]> => {
    const token = newToken();
    return [await store.write(operations, { token }), await store.write(operations, { token })];
  };

  rule('a repeated create is no conflict with itself', async (made) => {
    const outcomes = await twice(made, [{ kind: 'put', item: made.item('a'), if: notExists }]);
    assert.deepEqual(outcomes, [{ kind: 'written' }, { kind: 'written' }]);
  });

  rule('a repeated compare-and-set is no conflict with itself, and answers the item again', async (made) => {
    await made.put('a', { version: 1 });
    const update = { kind: 'update', key: made.key('a'), set: { version: 2 }, if: versionIs(1) } as const;
    const written = { kind: 'written', item: made.item('a', { version: 2 }) };
    assert.deepEqual(await twice(made, [update]), [written, written]);
  });

  rule('a repeated addition adds once', async (made) => {
    await twice(made, [{ kind: 'update', key: made.key('a'), add: { counter: 1 } }]);
    assert.deepEqual(await made.all(), [made.item('a', { counter: 1 })]);
  });

  rule('a repeated delete is no conflict with itself', async (made) => {
    await made.put('a');
    const outcomes = await twice(made, [{ kind: 'delete', key: made.key('a'), if: exists }]);
    assert.deepEqual(outcomes, [{ kind: 'written' }, { kind: 'written' }]);
  });

  rule('a repeated transaction is applied once', async (made) => {
    await made.put('old');
    const outcomes = await twice(made, [
      { kind: 'update', key: made.key('a'), add: { counter: 1 } },
      { kind: 'put', item: made.item('b'), if: notExists },
      { kind: 'delete', key: made.key('old'), if: exists },
    ]);
    assert.deepEqual(outcomes, [{ kind: 'written' }, { kind: 'written' }]);
    assert.deepEqual(await made.all(), [made.item('a', { counter: 1 }), made.item('b')]);
  });

  rule('another token is another writer', async ({ put, write, item }) => {
    const there = await put('a', { x: 1 });
    assert.deepEqual(await write({ kind: 'put', item: item('a', { x: 1 }), if: notExists }), refusedWith(0, there));
  });

  rule(
    'a refused write may be sent again with its token and is then made',
    async ({ store, put, item, all, ...made }) => {
      await put('a', { version: 1 });
      const guarded = [
        { kind: 'check', key: made.key('a'), if: versionIs(2) },
        { kind: 'put', item: item('b') },
      ] as const;
      const token = newToken();
      assert.equal((await store.write(guarded, { token })).kind, 'refused');
      await made.write({ kind: 'update', key: made.key('a'), set: { version: 2 } });
      assert.equal((await store.write(guarded, { token })).kind, 'written');
      assert.deepEqual(await all(), [item('a', { version: 2 }), item('b')]);
    },
  );

  rule('a token longer than a UUID', async ({ store, item, all }) => {
    const operations = ['a', 'b'].map((sk) => ({ kind: 'put', item: item(sk), if: notExists }) as const);
    const token = 'long'.repeat(30) + newToken();
    assert.deepEqual(await store.write(operations, { token }), { kind: 'written' });
    assert.deepEqual(await store.write(operations, { token }), { kind: 'written' });
    assert.equal((await all()).length, 2);
  });
}

function valueTests(use: () => Bench): void {
  const rule = testsIn(use);
  rule('text of every script, control characters, quotes and emptiness', async ({ put, get }) => {
    const texts = ['', ' ', 'é', '日本語', '\u{1f468}\u200d\u{1f469}', '\u0000\u0001\n\t', `'";--\\`, '\u{10ffff}'];
    const item = await put('a', { texts, ...Object.fromEntries(texts.map((text, index) => [`t${index}`, text])) });
    assert.deepEqual(await get('a'), item);
  });

  rule('numbers keep their value', async ({ put, get }) => {
    const numbers = [0, -1, 0.1, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1.7976931348623157e100];
    const item = await put('a', { numbers, instant: 1_700_000_000_123.456 });
    assert.deepEqual(await get('a'), item);
  });

  rule('empty lists and maps, null, and names of objects', async ({ put, get }) => {
    const item = await put('a', { list: [], map: {}, nothing: null, named: { constructor: 1, toString: 'x' } });
    assert.deepEqual(await get('a'), item);
  });

  rule('unicode in keys', async ({ put, get, all }) => {
    const item = await put('ключ#\u{1f511}');
    assert.deepEqual(await get('ключ#\u{1f511}'), item);
    assert.deepEqual(await all(), [item]);
  });

  test('an item just below the greatest size is stored, one above throws and changes nothing', async () => {
    const { put, get, write, item, key } = use();
    const big = await put('a', { blob: 'x'.repeat(409_000) });
    await assert.rejects(write({ kind: 'put', item: item('a', { blob: 'x'.repeat(409_601) }) }), refusedAsBug);
    await assert.rejects(write({ kind: 'update', key: key('a'), set: { more: 'x'.repeat(1000) } }), refusedAsBug);
    assert.deepEqual(await get('a'), big);
  });
}

const writersMax = 8;
const incrementsEach = 10;

function concurrencyTests(use: () => Bench): void {
  const rule = testsIn(use);
  const incrementOnce = async ({ get, write, key }: Bench): Promise<void> => {
    for (;;) {
      const counter = Number((await get('counter'))?.version);
      const set = { version: counter + 1 };
      const outcome = await write({ kind: 'update', key: key('counter'), set, if: versionIs(counter) });
      if (outcome.kind === 'written') return;
    }
  };

  const increments = async (body: () => Promise<unknown>): Promise<void> => {
    for (let n = 0; n < incrementsEach; n += 1) await body();
  };

  const writers = (body: () => Promise<unknown>): Promise<unknown> =>
    Promise.all(Array.from({ length: writersMax }, () => increments(body)));

  rule('increments by compare-and-set are all there', async (made) => {
    await made.put('counter', { version: 0 });
    await writers(() => incrementOnce(made));
    assert.deepEqual(await made.get('counter'), made.item('counter', { version: writersMax * incrementsEach }));
  });

  rule('atomic additions are all there', async (made) => {
    await writers(() => made.write({ kind: 'update', key: made.key('counter'), add: { version: 1 } }));
    assert.deepEqual(await made.get('counter'), made.item('counter', { version: writersMax * incrementsEach }));
  });

  rule('of many creators one wins', async (made) => {
    const create = (writer: number) =>
      made.write(
        { kind: 'put', item: made.item('a', { writer }), if: notExists },
        { kind: 'put', item: made.item(`w${writer}`) },
      );
    const outcomes = await Promise.all(Array.from({ length: writersMax }, (_, writer) => create(writer)));
    const winner = outcomes.findIndex((outcome) => outcome.kind === 'written');
    assert.equal(outcomes.filter((outcome) => outcome.kind === 'written').length, 1);
    assert.deepEqual(await made.all(), [made.item('a', { writer: winner }), made.item(`w${winner}`)]);
  });
}

/** Not StoreUnavailable: no caller should try it again. */
const refusedAsBug = (error: unknown): boolean => error instanceof Error && error.name !== 'StoreUnavailable';

function bugTests(use: () => Bench): void {
  const rule = testsIn(use);
  const bugs: { readonly [name: string]: (bench: Bench) => readonly Operation[] } = {
    'no operation': () => [],
    'more operations than a transaction holds': ({ item }) =>
      Array.from({ length: operationsMax + 1 }, (_, index) => ({ kind: 'put', item: item(`${index}`) })),
    'two operations on one key': ({ item, key }) => [
      { kind: 'put', item: item('a') },
      { kind: 'delete', key: key('a') },
    ],
    'an empty sort key': ({ item }) => [{ kind: 'put', item: item('') }],
    'a sort key over 1024 bytes': ({ item }) => [{ kind: 'put', item: item('é'.repeat(513)) }],
    'an attribute that is the adapter’s own': ({ item }) => [{ kind: 'put', item: item('a', { lastWrite: 'x' }) }],
    'an update of the key': ({ key }) => [{ kind: 'update', key: key('a'), set: { sk: 'b' } }],
    'an attribute set and removed': ({ key }) => [{ kind: 'update', key: key('a'), set: { x: 1 }, remove: ['x'] }],
    'a number that is none': ({ item }) => [{ kind: 'put', item: item('a', { x: [Number.NaN] }) }],
    'a check without a condition': ({ key }) => [{ kind: 'check', key: key('a'), if: [] }],
    'anyOf nothing': ({ key }) => [{ kind: 'delete', key: key('a'), if: [{ kind: 'anyOf', conditions: [] }] }],
  };
  for (const [name, operationsOf] of Object.entries(bugs))
    test(name, async () => {
      const made = use();
      await assert.rejects(made.write(...operationsOf(made)), refusedAsBug);
      assert.deepEqual(await made.all(), []);
    });

  rule('adding to what is no number, alone and in a transaction', async ({ put, write, key, item, all }) => {
    const there = await put('a', { x: 'text' });
    const add = { kind: 'update', key: key('a'), add: { x: 1 } } as const;
    await assert.rejects(write(add), refusedAsBug);
    await assert.rejects(write({ kind: 'put', item: item('b') }, add), refusedAsBug);
    assert.deepEqual(await all(), [there]);
  });

  rule('one token for two different transactions', async ({ store, item, all }) => {
    const token = newToken();
    const operations = (x: number): readonly Operation[] =>
      ['a', 'b'].map((sk) => ({ kind: 'put', item: item(sk, { x }) }));
    await store.write(operations(1), { token });
    await assert.rejects(store.write(operations(2), { token }), refusedAsBug);
    assert.deepEqual(await all(), [item('a', { x: 1 }), item('b', { x: 1 })]);
  });
}

function scenarioTests(use: () => Bench): void {
  for (const scenario of writeScenarios)
    test(scenario.name, async () => {
      const { store, pk } = use();
      const steps = scenario.steps(pk);
      assert.deepEqual(column(await outcomesOf(store, steps), 'kind'), column(steps, 'expected'));
    });
}
