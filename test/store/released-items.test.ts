/**
 * What a release has written, each release after it reads, although the items lack the attributes that came later. Each
 * file of the folder `items` was written by the release that it is named after.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Decoded } from '../../shared/store/records/items.ts';
import type { Item } from '../../shared/store/store.ts';
import { codecs } from './codecs.ts';

const itemsFolder = new URL('items/', import.meta.url);

/** What only the store and its conditions read. */
const besideTheRecord = /^(pk|sk|kind|schemaVersion|expiresAt|eventKind|lastWrite|probeRequestWrites|generation:.*)$/;

/** Attributes whose name in the table is not the record's. */
const recordNames = new Map([['lastProbeTimeMs', 'lastChangeTimeMs']]);

const recordIn = (item: Item) =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([name]) => !besideTheRecord.test(name))
      .map(([name, value]) => [recordNames.get(name) ?? name, value]),
  );

const decoded = (item: Item): Decoded<unknown> => {
  const codec = codecs[String(item.kind)];
  assert.ok(codec, `no decoder for ${item.kind}`);
  return codec.decode(item);
};

for (const file of readdirSync(itemsFolder)) {
  const items: readonly Item[] = JSON.parse(readFileSync(new URL(file, itemsFolder), 'utf8'));

  describe(`items of ${file}`, () => {
    test('are of every kind', () =>
      assert.deepEqual([...new Set(items.map(({ kind }) => kind))].toSorted(), Object.keys(codecs).toSorted()));

    for (const [at, item] of items.entries())
      test(`${item.kind} ${at} is read, and nothing of it is lost`, () => {
        const outcome = decoded(item);
        assert.equal(outcome.kind, 'ok', outcome.kind === 'poison' ? outcome.detail : '');
        assert.partialDeepStrictEqual(outcome.record, recordIn(item));
      });
  });
}

test('a stored handler without a field that has a default gets the default', () => {
  const [item] = JSON.parse(readFileSync(new URL('0.1.0.json', itemsFolder), 'utf8')).filter(
    (each: Item) => each.kind === 'TARGET' && JSON.stringify(each).includes('"httpGet"'),
  );
  const text = JSON.stringify(item);
  const without = JSON.parse(text.replaceAll('"path":"/",', '').replaceAll(',"scheme":"HTTP"', ''));
  assert.notDeepEqual(without, item);
  assert.deepEqual(decoded(without), decoded(item));
});
