import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LookMessage } from '../../shared/queue/queue.ts';
import { decodeShardMessage, encodeShardMessage } from '../../shared/queue/shard-message.ts';
import { shardMessage } from '../support/shard-messages.ts';

describe('a shard message', () => {
  for (const kind of ['slot', 'rescue'] as const)
    test(`of kind ${kind} is decoded as it was encoded`, () => {
      const message = shardMessage({ kind, shard: 'a0', generation: 3, buckets: { from: 255, to: 256 } });
      assert.deepEqual(decodeShardMessage(encodeShardMessage(message)), { kind: 'ok', message });
    });

  test('that asks for a look is decoded as it was encoded, with the longest names', () => {
    const probe = {
      namespace: 'n'.repeat(63),
      name: 't'.repeat(253),
      container: 'c'.repeat(63),
      probeType: 'readiness',
    };
    const sample = Array.from({ length: 5 }, () => probe as LookMessage['sample'][number]);
    const message = {
      kind: 'look',
      shard: '00',
      token: 7,
      place: 'p'.repeat(36),
      number: 1,
      sample,
      sentAtMs: 5,
    } as const;
    assert.deepEqual(decodeShardMessage(encodeShardMessage(message)), { kind: 'look', message });
    assert.equal(
      decodeShardMessage(encodeShardMessage({ ...message, sample: [...sample, ...sample] })).kind,
      'malformed',
    );
  });

  test('of a newer release may say more', () => {
    const message = shardMessage();
    assert.deepEqual(decodeShardMessage(JSON.stringify({ ...message, colour: 'blue' })), { kind: 'ok', message });
  });
});

describe('malformed is', () => {
  const { shard: _, ...withoutShard } = shardMessage();
  const bodies: { readonly [name: string]: string } = {
    nothing: '',
    'no JSON': '{"kind":',
    'JSON of another kind': '"slot"',
    'an array': '[]',
    null: 'null',
    'an unknown kind': JSON.stringify({ ...shardMessage(), kind: 'other' }),
    'a missing shard': JSON.stringify(withoutShard),
    'an empty shard': JSON.stringify(shardMessage({ shard: '' })),
    'a generation that is text': JSON.stringify({ ...shardMessage(), generation: '1' }),
    'a fraction of a slot': JSON.stringify(shardMessage({ slot: 1.5 })),
    'a negative slot': JSON.stringify(shardMessage({ slot: -1 })),
    'an empty range of buckets': JSON.stringify(shardMessage({ buckets: { from: 3, to: 3 } })),
    'a bucket that does not exist': JSON.stringify(shardMessage({ buckets: { from: 0, to: 257 } })),
    'a time that is no number': JSON.stringify({ ...shardMessage(), slotEndMs: null }),
    'a body that is too long': encodeShardMessage(shardMessage()) + ' '.repeat(5_000),
  };
  for (const [name, body] of Object.entries(bodies))
    test(name, () => {
      const decoded = decodeShardMessage(body);
      assert.equal(decoded.kind, 'malformed');
      assert.notEqual(decoded.kind === 'malformed' && decoded.detail, '');
    });
});
