/** What every queue has to do: the rules of shared/queue/queue.ts, one by one. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { QueueReceiver, QueueSender, Received } from '../../shared/queue/queue.ts';
import { decodeShardMessage } from '../../shared/queue/shard-message.ts';
import { shardMessage } from '../support/shard-messages.ts';

export type OpenedQueue = {
  /** Empty, with `contractVisibilityMs`. */
  readonly queue: QueueSender & QueueReceiver;
  /** Resolves with the promise, however time has to pass for it. */
  play<Answer>(promise: Promise<Answer>): Promise<Answer>;
  /** So much time passes. */
  pass(ms: number): Promise<void>;
};

/** SQS counts in whole seconds. */
export const contractVisibilityMs = 2_000;
/** Longer than an answer takes, shorter than the visibility. */
const soonMs = 1_000;

type Options = {
  readonly open: (context: TestContext) => OpenedQueue | Promise<OpenedQueue>;
  /** Tests at the same time, where time is real. */
  readonly concurrency?: number;
};

/** Registers the contract's tests for one adapter. Each test has a queue of its own. */
export function queueContract(title: string, { open, concurrency = 1 }: Options): void {
  const rule = (name: string, holds: (bench: Bench) => Promise<void>) =>
    test(name, async (context) => holds(bench(await open(context))));
  describe(`${title} keeps the contract of a queue`, { concurrency }, () => {
    receivingRules(rule);
    groupRules(rule);
    visibilityRules(rule);
    deduplicationRules(rule);
  });
}

type Rule = (name: string, holds: (bench: Bench) => Promise<void>) => void;

type Bench = OpenedQueue & {
  /** The slot distinguishes messages. Every one has an id of its own, unless given. */
  send(group: string, slot: number, deduplicationId?: string): Promise<void>;
  receive(waitMs: number): Promise<Received | undefined>;
  /** Fails when none comes. */
  next(waitMs?: number): Promise<Received>;
  nothing(waitMs?: number): Promise<void>;
};

function bench(opened: OpenedQueue): Bench {
  const { queue, play } = opened;
  let ids = 0;
  const receive = (waitMs: number) => play(queue.receive(waitMs));
  return {
    ...opened,
    send(group, slot, deduplicationId) {
      ids += 1;
      return play(queue.send(shardMessage({ slot }), { group, deduplicationId: deduplicationId ?? `id-${ids}` }));
    },
    receive,
    async next(waitMs = soonMs) {
      const received = await receive(waitMs);
      assert.ok(received, 'a message');
      return received;
    },
    async nothing(waitMs = 0) {
      assert.equal(await receive(waitMs), undefined);
    },
  };
}

const slotOf = ({ body }: Received): number => {
  const decoded = decodeShardMessage(body);
  assert.equal(decoded.kind, 'ok');
  return decoded.kind === 'ok' ? decoded.message.slot : Number.NaN;
};

function receivingRules(rule: Rule): void {
  rule('a message is received as it was sent', async ({ queue, play, next }) => {
    const buckets = { from: 16, to: 32 };
    const message = shardMessage({ kind: 'rescue', shard: 'a0', generation: 7, buckets, slot: 3 });
    await play(queue.send(message, { group: 'rescue/a0/12', deduplicationId: 'one' }));
    const received = await next();
    assert.deepEqual(decodeShardMessage(received.body), { kind: 'ok', message });
    assert.equal(received.group, 'rescue/a0/12');
    assert.equal(received.receiveCount, 1);
  });

  rule('a receiver that waits gets what is sent meanwhile', async ({ queue, play, send }) => {
    const waiting = queue.receive(20_000);
    await send('a', 1);
    const received = await play(waiting);
    assert.equal(received && slotOf(received), 1);
  });

  rule('a receiver that waits in vain gets nothing', ({ nothing }) => nothing(soonMs));

  rule('a receiver can stop waiting', async ({ queue, play }) => {
    const stop = new AbortController();
    const waiting = queue.receive(20_000, stop.signal);
    stop.abort();
    assert.equal(await play(waiting), undefined);
    assert.equal(await play(queue.receive(20_000, stop.signal)), undefined);
  });

  rule('one message goes to one of several receivers', async ({ queue, play, send }) => {
    const waiting = [queue.receive(soonMs), queue.receive(soonMs), queue.receive(soonMs)];
    await send('a', 1);
    const received = await play(Promise.all(waiting));
    assert.equal(received.filter((each) => each !== undefined).length, 1);
  });

  rule('what was acknowledged is gone', async ({ play, send, next, nothing }) => {
    await send('a', 1);
    const received = await next();
    assert.equal(await play(received.acknowledge()), true);
    await nothing(contractVisibilityMs + soonMs);
    // A second time: whatever is answered, it does not throw.
    assert.equal(typeof (await play(received.acknowledge())), 'boolean');
    assert.equal(await play(received.lease.extend(contractVisibilityMs)), false);
  });
}

function groupRules(rule: Rule): void {
  rule('a group has one message in flight at a time, in order', async ({ play, send, next, nothing }) => {
    await send('a', 1);
    await send('a', 2);
    const first = await next();
    assert.equal(slotOf(first), 1);
    await nothing();
    await play(first.acknowledge());
    assert.equal(slotOf(await next()), 2);
  });

  rule('groups do not hold up one another', async ({ send, next, nothing }) => {
    await send('a', 1);
    await send('a', 2);
    await send('rescue/a', 3);
    const slots = [slotOf(await next()), slotOf(await next())];
    assert.deepEqual(slots.sort(), [1, 3]);
    await nothing();
  });

  rule('many groups are each in order, nothing lost and nothing doubled', async ({ play, send, receive }) => {
    const groups = ['a', 'b', 'c', 'd'];
    for (const slot of [1, 2, 3]) for (const group of groups) await send(group, slot);
    const seen = new Map<string, number[]>(groups.map((group) => [group, []]));
    const worker = async () => {
      for (let received = await receive(soonMs); received; received = await receive(soonMs)) {
        seen.get(received.group)?.push(slotOf(received));
        assert.equal(await play(received.acknowledge()), true);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    assert.deepEqual([...seen.values()], Array(groups.length).fill([1, 2, 3]));
  });
}

function visibilityRules(rule: Rule): void {
  rule('without an acknowledgement the message comes again, and its group waits for it', async (bench) => {
    const { play, send, next, nothing } = bench;
    await send('a', 1);
    await send('a', 2);
    await next();
    await nothing();
    const again = await next(contractVisibilityMs + soonMs);
    assert.deepEqual([slotOf(again), again.receiveCount], [1, 2]);
    await nothing();
    await play(again.acknowledge());
    assert.equal(slotOf(await next()), 2);
  });

  rule(
    'a receiver whose visibility is over can neither keep nor delete the message',
    async ({ play, send, next, nothing }) => {
      await send('a', 1);
      const first = await next();
      const second = await next(contractVisibilityMs + soonMs);
      assert.equal(await play(first.lease.extend(contractVisibilityMs)), false);
      assert.equal(await play(first.lease.extend(0)), false);
      assert.equal(await play(first.acknowledge()), false);
      await nothing();
      assert.equal(await play(second.lease.extend(contractVisibilityMs)), true);
      assert.equal(await play(second.acknowledge()), true);
      await nothing(contractVisibilityMs + soonMs);
    },
  );

  rule('a lease that is extended holds', async ({ play, pass, send, next, nothing }) => {
    await send('a', 1);
    const received = await next();
    for (let beat = 0; beat < 3; beat += 1) {
      await pass(contractVisibilityMs / 2);
      assert.equal(await play(received.lease.extend(contractVisibilityMs)), true);
    }
    await nothing(contractVisibilityMs / 4);
    assert.equal(await play(received.acknowledge()), true);
  });

  rule('a lease can be shortened', async ({ play, send, next, nothing }) => {
    await send('a', 1);
    const received = await next();
    assert.equal(await play(received.lease.extend(60_000)), true);
    assert.equal(await play(received.lease.extend(contractVisibilityMs)), true);
    await nothing();
    assert.equal((await next(contractVisibilityMs + soonMs)).receiveCount, 2);
  });

  rule('a lease of 0 hands the message over at once', async ({ queue, play, send, next }) => {
    await send('a', 1);
    const received = await next();
    const waiting = queue.receive(20_000);
    assert.equal(await play(received.lease.extend(0)), true);
    const successor = await play(waiting);
    assert.equal(successor?.receiveCount, 2);
    assert.equal(await play(received.acknowledge()), false);
    assert.equal(await play(successor?.acknowledge() ?? Promise.resolve(false)), true);
  });
}

function deduplicationRules(rule: Rule): void {
  rule('what was sent twice with one id is delivered once', async ({ play, send, next, nothing }) => {
    await send('a', 1, 'same');
    await send('a', 1, 'same');
    await play((await next()).acknowledge());
    await nothing();
    await send('a', 1, 'same');
    await nothing();
  });

  rule('an id counts for all groups', async ({ send, next, nothing }) => {
    await send('a', 1, 'same');
    await send('b', 2, 'same');
    assert.equal(slotOf(await next()), 1);
    await nothing();
  });

  rule('the same message with another id is another message', async ({ play, send, next }) => {
    await send('a', 1);
    await send('a', 1);
    await play((await next()).acknowledge());
    assert.equal(slotOf(await next()), 1);
  });
}
