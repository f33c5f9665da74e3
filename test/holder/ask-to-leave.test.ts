/** A run that holds a shard by a rescue leaves in order when the next slot's message comes. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { residentSlotMs } from '../../shared/core/shards/slots.ts';
import { runReceived } from '../../shared/holder/receipt.ts';
import { runKey, targetAddress } from '../../shared/store/records/keys.ts';
import { shardWorld } from '../support/shard-world.ts';
import { beforeWrite } from '../support/store-wraps.ts';
import { testsIn } from '../support/tests-in.ts';

/** Off its phase since the startup probe's success, with a period that no hand-over may add to. */
const probe = { tcpSocket: { port: 1 }, periodSeconds: 30 };
const spec = { startupProbe: { ...probe, periodSeconds: 1 }, readinessProbe: probe };
const names = Array.from({ length: 20 }, (_, at) => `cart-${at}`);

/** A shard that a rescue holds, or a message of its slot, whose probes are next due in 10 s. */
async function rescuedWorld(kind: 'rescue' | 'slot' = 'rescue') {
  const world = shardWorld();
  for (const name of names) await world.put(name, spec);
  const rescue = await world.run({ kind });
  await world.clock.advance(20_000);
  const { slot, slotEndMs } = world.message();
  const next = { ...world.message(), slot: slot + 1, slotEndMs: slotEndMs + residentSlotMs };
  const receive = (options: { readonly redelivered?: boolean } = {}) => {
    const stop = new AbortController();
    const ended = runReceived(world.ports(), next, next.slotEndMs, { ...options, stop: stop.signal });
    return { ended, stop: () => stop.abort() };
  };
  const run = () => world.store.get(runKey('00'));
  const pending = async () => {
    const ofBuckets = new Map(names.map((name) => [targetAddress('default', name).bucket, name]));
    const entries = await Promise.all([...ofBuckets.values()].map(world.checkpoint));
    return entries.flat().filter((entry) => entry.owed).length;
  };
  /** The successor holds the next slot; it is then stopped. */
  const holdsNext = async (successor: ReturnType<typeof receive>) => {
    assert.equal((await run())?.slot, next.slot);
    successor.stop();
    await world.clock.runUntil(successor.ended);
  };
  return { ...world, rescue, next, receive, run, pending, holdsNext };
}

const inRescued = testsIn(() => rescuedWorld());

describe("the next slot's message", () => {
  inRescued('does not wait for a holder whose shard another run has claimed meanwhile', async (world) => {
    const { clock, next, log } = world;
    let isClaimed = false;
    const store = beforeWrite(async (operations) => {
      const isAsking = operations.some((operation) => operation.kind === 'update' && 'leave' in (operation.set ?? {}));
      if (!isAsking || isClaimed) return undefined;
      isClaimed = true;
      await world.store.write([{ kind: 'update', key: runKey('00'), set: { token: 900 } }], { token: 'claimed' });
      return undefined;
    })(world.store);
    const stop = new AbortController();
    const ended = runReceived({ ...world.ports(), store }, next, next.slotEndMs, { stop: stop.signal });
    await clock.advance(3_000);
    assert.ok(isClaimed);
    assert.deepEqual(
      log.lines.filter(({ message }) => message === 'holder asked to leave'),
      [],
    );
    stop.abort();
    await clock.runUntil(ended);
  });

  test('makes the holder of a rescue leave in order, with the pending probes written', async () => {
    const { clock, rescue, receive, run, pending, next } = await rescuedWorld();
    const token = (await run())?.token;
    const successor = receive();
    assert.deepEqual(await clock.runUntil(rescue.ended), { kind: 'asked' });
    assert.ok((await pending()) > 5);
    const left = await run();
    assert.deepEqual([left?.beat, left?.token, left?.doneSlot], [-1, token, -1]);
    await clock.advance(2_000);
    const held = await run();
    assert.equal(held?.slot, next.slot);
    assert.notEqual(held?.token, token);
    successor.stop();
    assert.deepEqual(await clock.runUntil(successor.ended), { kind: 'handover' });
  });

  test('takes a shard at once that a process has left as its slot ended', async () => {
    const { clock, rescue: held, receive, holdsNext } = await rescuedWorld('slot');
    assert.deepEqual(await held.stop(), { kind: 'handover' });
    // The message that was handed over is not worth a run any more, so the next one is received, for the first time.
    const successor = receive();
    await clock.advance(500);
    await holdsNext(successor);
  });

  inRescued(
    'takes a shard whose holder has died after 10 s',
    async ({ clock, rescue, receive, run, next, holdsNext }) => {
      rescue.crash();
      const successor = receive();
      await clock.advance(9_000);
      assert.notEqual((await run())?.slot, next.slot);
      await clock.advance(2_000);
      await holdsNext(successor);
    },
  );

  inRescued('takes a shard at once whose last beat is 10 s old', async ({ clock, rescue, receive, holdsNext }) => {
    rescue.crash();
    await clock.advance(11_000);
    const successor = receive();
    await clock.advance(500);
    await holdsNext(successor);
  });

  inRescued('that comes again asks no holder, which has died', async ({ clock, receive, holdsNext }) => {
    const successor = receive({ redelivered: true });
    await clock.advance(100);
    await holdsNext(successor);
  });
});
