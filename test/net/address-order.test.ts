/**
 * go-address-order.jsonl: what Go 1.26.8 makes of random lists of addresses (net.sortByRFC6724withSrcs, linked by
 * name). `sources` are the local addresses from which each would be reached; null: there is no route.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inDialOrder } from '../../shared/net/address-order.ts';

type Recorded = {
  readonly addresses: readonly string[];
  readonly sources: readonly (string | null)[];
  readonly order: readonly string[];
};

test('addresses are dialed in the order in which Go sorts them', () => {
  const lines = readFileSync(join(import.meta.dirname, 'go-address-order.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  assert.equal(lines.length, 400);
  for (const line of lines) {
    const { addresses, sources, order } = JSON.parse(line) as Recorded;
    const sorted = inDialOrder(
      addresses,
      sources.map((source) => source ?? undefined),
    );
    assert.deepEqual(sorted, order, line);
  }
});
