import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localPorts } from '../../shared/net/local-ports.ts';

const all = { from: 1, to: 65_535 };

test('the kernel says which ports it gives to connections', () => {
  assert.deepEqual(
    localPorts(() => '32768\t60999\n'),
    { from: 32_768, to: 60_999 },
  );
  const { from, to } = localPorts();
  assert.ok(from >= 1 && from <= to && to <= 65_535);
});

test('without that each port may be one of them', () => {
  assert.deepEqual(
    localPorts(() => {
      throw new Error('ENOENT');
    }),
    all,
  );
  for (const text of ['', 'none', '32768', '-1 2'])
    assert.deepEqual(
      localPorts(() => text),
      all,
    );
});
