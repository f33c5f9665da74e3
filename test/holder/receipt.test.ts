/** What a message is still worth when it is received. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { residentLeadMs, residentSlotMs } from '../../shared/core/shards/slots.ts';
import { runReceived } from '../../shared/holder/receipt.ts';
import type { Ports } from '../../shared/holder/run.ts';
import { QueueUnavailable } from '../../shared/queue/queue.ts';
import { aheadOfScheduleMs } from '../../shared/schedule/slots.ts';
import { runKey } from '../../shared/store/records/keys.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { scheduleWorld } from '../schedule/schedule-world.ts';
import { inShardWorld } from '../support/shard-world.ts';
import { testsIn } from '../support/tests-in.ts';

/** One resident shard of generation 1, and a message for its current slot. */
async function world() {
  const made = scheduleWorld({ mode: 'resident' });
  const { layout } = await made.tick();
  const [sent] = made.takeSent();
  const [shard] = layout;
  assert.ok(sent && shard);
  return { ...made, shard, message: sent.message };
}

const inWorld = testsIn(() => world());

describe('a slot message', () => {
  inWorld('is run: also twice, also early, also by several', async ({ judge, message, beat, shard }) => {
    assert.equal(await judge(message), undefined);
    await beat(shard);
    assert.equal(await judge(message), undefined);
    assert.equal(await judge({ ...message, slot: message.slot + 1, slotEndMs: message.slotEndMs + 1 }), undefined);
  });

  inWorld('is dropped when its slot has ended', async ({ judge, message, advance, clock }) => {
    await advance(message.slotEndMs - clock.nowMs() - 1);
    assert.equal(await judge(message), undefined);
    await advance(1);
    assert.equal(await judge(message), 'slotEnded');
  });

  inWorld('is dropped when its shard has another generation, or is no more', async ({ judge, message }) => {
    assert.equal(await judge({ ...message, generation: message.generation - 1 }), 'otherGeneration');
    assert.equal(await judge({ ...message, shard: '80' }), 'otherGeneration');
  });

  inWorld('is dropped when its slot has been done, in this generation', async ({ judge, message, beat, shard }) => {
    const done = { doneSlot: message.slot, slot: message.slot };
    await beat(shard, done);
    assert.equal(await judge(message), 'slotDone');
    await beat(shard, { ...done, generation: shard.generation - 1 });
    assert.equal(await judge(message), undefined);
  });
});

test('a message of a slot that another has followed already does not take the shard from it', async () => {
  const { judge, message, beat, shard, advance, clock } = await world();
  await advance(message.slotEndMs - message.sentAtMs - residentLeadMs);
  await beat(shard, { slot: message.slot + 1 });
  assert.equal(await judge(message), 'slotPassed');
  const rescue = { ...message, kind: 'rescue' as const, sentAtMs: clock.nowMs() };
  assert.equal(await judge(rescue), undefined, 'it may have no holder');
  await beat(shard, { slot: message.slot + 1, generation: shard.generation - 1 });
  assert.equal(await judge(message), undefined);
});

describe('where a clock is wrong', () => {
  const hourMs = 3_600_000;

  inWorld('the local clock does not count, but the time in the queue does', async ({ judgeNow, message }) => {
    assert.equal(await judgeNow(message), undefined);
    assert.equal(await judgeNow({ ...message, slotEndMs: message.sentAtMs }), 'slotEnded');
    for (const aheadMs of [hourMs, -hourMs]) {
      const now = message.sentAtMs + aheadMs;
      const clock = { nowMs: () => now };
      assert.equal(aheadOfScheduleMs(clock, message, { waitedMs: 0 }), aheadMs);
      assert.equal(aheadOfScheduleMs(clock, message, { waitedMs: aheadMs }), 0, 'it waited that long');
      assert.equal(aheadOfScheduleMs(clock, message, {}), 0, 'not known');
    }
    const elsewhere = { ...message, sentAtMs: message.sentAtMs + hourMs, slotEndMs: message.slotEndMs + hourMs };
    assert.equal(await judgeNow(elsewhere, { aheadMs: -hourMs }), undefined);
    const before = { ...message, sentAtMs: message.sentAtMs - hourMs, slotEndMs: message.slotEndMs - hourMs };
    assert.equal(await judgeNow(before), 'slotEnded');
    assert.equal(await judgeNow(before, { aheadMs: hourMs }), undefined);
  });

  for (const attribute of ['slot', 'doneSlot'] as const)
    test(`a ${attribute} that has not come is not believed, unless its holder is alive`, async () => {
      const { judge, judgeNow, advance, clock, message: composed, beat, shard } = await world();
      const message = { ...composed, seenSlot: composed.slot + 100 };
      await beat(shard, { slot: message.slot + 100, [attribute]: message.slot + 100 });
      assert.equal(await judge(message), undefined);
      const judged = judgeNow(message);
      await advance(0);
      await beat(shard, { slot: message.slot + 100, beat: 7 });
      assert.equal(await clock.runUntil(judged), 'holderAlive');
    });

  for (const attribute of ['slot', 'doneSlot'] as const)
    test(`a ${attribute} that has not come counts if the schedule had not seen it when it composed the message`, async () => {
      const { judge, message, beat, shard } = await world();
      const later = message.slot + 100;
      await beat(shard, { slot: later, [attribute]: later });
      assert.equal(await judge({ ...message, seenSlot: later }), undefined);
      const reason = attribute === 'slot' ? 'slotPassed' : 'slotDone';
      assert.equal(await judge({ ...message, seenSlot: message.slot - 1 }), reason, 'it stood still while it sent');
    });

  inShardWorld('a slot that has not come is claimed over, and forgotten', async (world) => {
    await world.put('checkout', { readinessProbe: { tcpSocket: { port: 80 } } });
    const { slot, slotEndMs } = world.message();
    const ahead = await world.run({ slot: slot + 100, slotEndMs: slotEndMs + 100 * residentSlotMs });
    await world.clock.advance(10_000);
    await ahead.stop();
    const set = { doneSlot: slot + 100 };
    await world.store.write([{ kind: 'update', key: runKey('00'), set }], { token: 'as if it had ended' });
    const run = await world.run();
    await world.clock.advance(10_000);
    const shown = await world.store.get(runKey('00'));
    assert.deepEqual([shown?.slot, shown?.doneSlot], [slot, -1]);
    assert.equal((await run.stop()).kind, 'handover');
  });
});

describe('a rescue', () => {
  const inRescued = testsIn(async () => {
    const { judgeNow, advance, message, ...rest } = await world();
    const rescue = { ...message, kind: 'rescue' as const, sentAtMs: rest.clock.nowMs() };
    /** What is decided while this happens, which begins when RUN has been read once. */
    const during = async (happens: () => Promise<unknown>, waitedMs = 0) => {
      await advance(waitedMs);
      const judged = judgeNow(rescue);
      await advance(0);
      await happens();
      return rest.clock.runUntil(judged);
    };
    return { ...rest, during, rescue };
  });

  inRescued('continues where the beat stands still, or never was one', async ({ during, beat, shard }) => {
    assert.equal(await during(async () => {}), undefined);
    await beat(shard, { beat: 7 });
    assert.equal(await during(async () => {}), undefined);
  });

  inRescued('continues though its slot is done, where no holder beats', async ({ during, beat, shard, rescue }) => {
    // The clock that ended the slot may have been ahead.
    await beat(shard, { beat: -1, slot: rescue.slot, doneSlot: rescue.slot });
    assert.equal(await during(async () => {}), undefined);
  });

  inRescued('gives way to a beat that moves, and to another token', async ({ during, beat, shard }) => {
    await beat(shard, { beat: 7 });
    assert.equal(await during(() => beat(shard, { beat: 8 })), 'holderAlive');
    assert.equal(await during(() => beat(shard, { beat: 8, token: 2 })), 'holderAlive');
  });

  inRescued('is too old 90 s after it was sent', async ({ during }) => {
    assert.equal(await during(async () => {}, 84_000), undefined);
    assert.equal(await during(async () => {}, 1_000), 'rescueTooOld');
  });
});

describe('a rescue that comes again', () => {
  const again = async (beat: number, ageMs: number) => {
    const made = await world();
    await made.beat(made.shard, { beat });
    await made.advance(ageMs);
    const sinceMs = made.clock.nowMs();
    const judged = made.judgeNow({ ...made.message, kind: 'rescue' }, { redelivered: true });
    return [await made.clock.runUntil(judged), made.clock.nowMs() - sinceMs];
  };

  test('because it was handed over is taken at once', async () =>
    assert.deepEqual(await again(-1, 120_000), [undefined, 0]));

  test('because its holder has died is taken, however long ago it was sent, where the beat stands still', async () =>
    assert.deepEqual(await again(7, 120_000), [undefined, 6_000]));
});

describe('a received message', () => {
  const portsOf = (given: Partial<Ports>): Ports => given as Ports;

  inWorld('that is worth nothing ends as stale and takes no token', async ({ store, clock, log, message }) => {
    const lease = { extend: async () => true };
    const old = { ...message, generation: 0 };
    const end = await clock.runUntil(runReceived(portsOf({ store, clock, log, lease }), old, old.slotEndMs));
    const [line] = log.lines.filter(({ message: text }) => text === 'message dropped');
    assert.deepEqual([end, line?.fields?.reason], [{ kind: 'stale' }, 'otherGeneration']);
    assert.equal((await store.get({ pk: 'LAYOUT', sk: 'LAYOUT' }))?.token, 0);
  });

  inWorld('that became worth nothing before its run is logged as dropped', async ({ store, clock, log, message }) => {
    const lease = { extend: async () => true };
    // Judged just before the end of its slot, and run at it.
    const ends = [message.slotEndMs - 1, message.slotEndMs];
    const late = { ...clock, nowMs: () => ends.shift() ?? message.slotEndMs };
    const end = await runReceived(portsOf({ store, clock: late, log, lease }), message, message.slotEndMs);
    const [line] = log.lines.filter(({ message: text }) => text === 'message dropped');
    assert.deepEqual([end, line?.fields?.reason], [{ kind: 'stale' }, 'overtaken']);
  });

  inWorld('whose lease cannot be set at first is tried again', async ({ store, clock, log, message }) => {
    let tries = 0;
    const extend = async () => {
      tries += 1;
      if (tries < 4) throw new QueueUnavailable('for a while');
      return true;
    };
    const old = { ...message, generation: message.generation + 1 };
    const end = await clock.runUntil(
      runReceived(portsOf({ store, clock, log, lease: { extend } }), old, old.slotEndMs),
    );
    assert.deepEqual([tries, end.kind], [4, 'stale']);
  });

  inWorld(
    'that another process has, or that cannot be judged, ends in doubt',
    async ({ store, clock, log, message }) => {
      const refused = { extend: async () => false };
      const given = { store, clock, log };
      const end = await runReceived(portsOf({ ...given, lease: refused }), message, message.slotEndMs);
      assert.equal(end.kind, 'doubt');
      for (const [error, level] of [
        [new StoreUnavailable('told so'), 'warn'],
        [new Error('a bug'), 'error'],
      ] as const) {
        const get = () => Promise.reject(error);
        const broken = { ...given, store: { ...store, get }, lease: { extend: async () => true } };
        assert.equal((await runReceived(portsOf(broken), message, message.slotEndMs)).kind, 'doubt');
        assert.equal(log.lines.findLast(({ message: said }) => said === 'message not judged')?.level, level);
      }
    },
  );
});
