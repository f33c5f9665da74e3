/** Attributes that are named like what every JavaScript object has already. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition, Item, Key, Operation, WriteOutcome } from '../../shared/store/store.ts';

const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', '__defineGetter__'];

type Bench = {
  key(sk: string): Key;
  put(sk: string, attributes?: { readonly [attribute: string]: unknown }): Promise<Item>;
  write(...operations: readonly Operation[]): Promise<WriteOutcome>;
  get(sk: string): Promise<Item | undefined>;
};

export function nameTests(use: () => Bench): void {
  for (const attribute of names)
    test(`an attribute, an entry and a list named ${attribute}`, async () => {
      const { put, get, write, key } = use();
      const entry = { [attribute]: { [attribute]: [attribute] } };
      assert.deepEqual(await get('a'), undefined);
      const item = await put('a', { ...entry, nested: entry });
      assert.deepEqual(await get('a'), item);
      assert.equal((await write({ kind: 'update', key: key('a'), remove: [attribute] })).kind, 'written');
      const { [attribute]: _, ...rest } = item;
      assert.deepEqual(await get('a'), rest);
    });

  for (const attribute of names)
    test(`${attribute} is not there before it is set or counted`, async () => {
      const { put, get, write, key } = use();
      const item = await put('a');
      const check = async (condition: Condition) =>
        (await write({ kind: 'check', key: key('a'), if: [condition] })).kind === 'written';
      assert.equal(await check({ kind: 'absent', attribute }), true);
      assert.equal(await check({ kind: 'equals', attribute, value: 1 }), false);
      assert.equal(await check({ kind: 'lessThan', attribute, value: 1 }), false);
      const add = { kind: 'update', key: key('a'), add: { [attribute]: 1 }, set: { x: 1 } } as const;
      const counted = await write(add, { kind: 'update', key: key('b'), set: { [attribute]: 1 }, remove: ['x'] });
      assert.equal(counted.kind, 'written');
      assert.deepEqual(await get('a'), { ...item, [attribute]: 1, x: 1 });
      assert.equal(await check({ kind: 'absent', attribute }), false);
      assert.equal(await check({ kind: 'equals', attribute, value: 1 }), true);
    });
}
