/**
 * Replies that no server would write: recorded ones with random bytes, cuts and joints. Each comes to something, and
 * nothing is thrown.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { readReply } from '../../shared/dns/reply.ts';
import { bytesOf, type DnsScript } from '../support/dns-script-server.ts';
import { seededRandom } from '../support/seeded-random.ts';

const repliesMax = 20_000;
const bytesMax = 2000;

const seeds: readonly Buffer[] = readFileSync(join(import.meta.dirname, 'go-replies.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .flatMap((line) => {
    const { udp }: DnsScript = JSON.parse(line);
    return udp.map(({ send }) => bytesOf(send));
  })
  .filter(({ length }) => length <= bytesMax);

test(`${repliesMax} random replies are read without an exception`, () => {
  const random = seededRandom(55);
  const below = (limit: number) => Math.floor(random.next() * limit);
  const seed = () => Buffer.from(seeds[below(seeds.length)] ?? Buffer.alloc(0));
  const kinds = new Map<string, number>();
  for (let count = 0; count < repliesMax; count += 1) {
    const message = mutated(seed(), seed(), below);
    const reply = readReply(message, { name: 'x.test', type: below(2) === 0 ? 1 : 28, id: 0 }, below(2) === 0);
    kinds.set(reply.kind, (kinds.get(reply.kind) ?? 0) + 1);
    if (reply.kind !== 'addresses') continue;
    for (const address of reply.addresses) assert.notEqual(isIP(address), 0, message.toString('hex'));
    assert.ok(reply.ttlSeconds >= 0 && reply.ttlSeconds < 2 ** 31, message.toString('hex'));
  }
  assert.deepEqual([...kinds.keys()].toSorted(), [
    'addresses',
    'failed',
    'foreign',
    'notFound',
    'truncated',
    'useless',
  ]);
});

/** Mostly behind the question, since a wrong question ends the matter. */
function mutated(message: Buffer, other: Buffer, below: (limit: number) => number): Buffer {
  for (let changes = below(4); changes > 0 && message.length > 0; changes -= 1) {
    const at = below(3) === 0 ? below(message.length) : Math.min(message.length - 1, 24 + below(message.length));
    message[at] = below(2) === 0 ? below(256) : (message[at] ?? 0) ^ (1 << below(8));
  }
  switch (below(4)) {
    case 0:
      return message.subarray(0, below(message.length + 1));
    case 1:
      return Buffer.concat([
        message.subarray(0, 24 + below(message.length + 1)),
        other.subarray(below(other.length + 1)),
      ]);
    default:
      return message;
  }
}
