/** Notifications arrive at least once, in order, whatever the receiver and the process do. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Notification } from '../../shared/alerts/alert-state.ts';
import { giveUpAfterMs, queueMax, type SendOutcome, sendMsMax, startDelivery } from '../../shared/alerts/delivery.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { sampleNotification } from './alert-world.ts';
import { keptInMemory, killedLife } from './killed-life.ts';

/** Nothing here has I/O, so promises alone have to settle. */
const quiet = async () => {
  for (let turn = 0; turn < 40; turn += 1) await undefined;
};

/** The machine has been up for so long, which is no duration of anything here. */
const upMs = giveUpAfterMs;

type Answer = (notification: Notification, attempt: number) => Promise<SendOutcome> | SendOutcome;

function deliveryWorld(answers: { readonly [receiver: string]: Answer }) {
  const clock = virtualClock({ quiet });
  clock.stand(upMs);
  const log = recordingLog();
  const arrived: { readonly receiver: string; readonly id: string; readonly atMs: number }[] = [];
  const send = async (receiver: string, notification: Notification): Promise<SendOutcome> => {
    arrived.push({ receiver, id: notification.id, atMs: clock.monotonicMs() - upMs });
    const attempt = arrived.filter((each) => each.receiver === receiver && each.id === notification.id).length;
    return (await answers[receiver]?.(notification, attempt)) ?? delivered;
  };
  const names = Object.keys(answers);
  const delivery = startDelivery(names, {}, { clock, random: seededRandom(1), log, send, onChange: () => undefined });
  const add = (id: string, over: Partial<Notification> = {}) => {
    delivery.add({ ...sampleNotification(), id, receivers: names, ...over });
    delivery.release();
  };
  const idsAt = (receiver: string) => arrived.filter((each) => each.receiver === receiver).map(({ id }) => id);
  return { clock, log, arrived, delivery, add, idsAt };
}

const delivered: SendOutcome = { kind: 'delivered' };
const failed: SendOutcome = { kind: 'failed', why: 'status 500' };

describe('delivery', () => {
  test('tries again with growing rests and keeps the order', async () => {
    const world = deliveryWorld({ ops: (_, attempt) => (attempt < 4 ? failed : delivered) });
    world.add('one');
    world.add('two');
    await world.clock.advance(60_000);
    assert.deepEqual(world.idsAt('ops'), [...Array(4).fill('one'), ...Array(4).fill('two')]);
    const [a = 0, b = 0, c = 0, d = 0] = world.arrived.map(({ atMs }) => atMs);
    for (const [rest, most] of [
      [b - a, 1_000],
      [c - b, 2_000],
      [d - c, 4_000],
    ] as const)
      assert.ok(rest >= most / 2 && rest <= most, `${rest}`);
    assert.deepEqual(world.delivery.outbox(), {});
  });

  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
    test(`to a receiver named ${name} is as to any other`, async () => {
      const world = deliveryWorld({ [name]: (_, attempt) => (attempt < 2 ? failed : delivered) });
      world.add('one');
      assert.deepEqual(Object.keys(world.delivery.outbox()), [name]);
      await world.clock.advance(60_000);
      assert.deepEqual(world.idsAt(name), ['one', 'one']);
    });

  test('cuts a receiver off that hangs, and delays no other', async () => {
    const world = deliveryWorld({ hangs: () => new Promise<never>(() => undefined), ops: () => delivered });
    world.add('one');
    await world.clock.advance(sendMsMax - 1);
    assert.deepEqual([world.idsAt('ops'), world.idsAt('hangs')], [['one'], ['one']]);
    await world.clock.advance(1_001);
    assert.deepEqual(world.idsAt('hangs'), ['one', 'one']);
    assert.ok(JSON.stringify(world.log.lines).includes('no answer within 10 s'), JSON.stringify(world.log.lines));
    await world.delivery.stop();
    assert.equal(world.delivery.outbox().hangs?.length, 1);
  });

  test('waits as long as the receiver asks, at most an hour', async () => {
    const asked: SendOutcome = { kind: 'failed', why: 'status 429', afterMs: 120_000 };
    const world = deliveryWorld({ ops: (_, attempt) => [asked, { ...asked, afterMs: 1e9 }][attempt - 1] ?? delivered });
    world.add('one');
    await world.clock.advance(4_000_000);
    assert.deepEqual(
      world.arrived.map(({ atMs }) => atMs),
      [0, 120_000, 3_720_000],
    );
  });

  test('gives up after a day, or when refused, and the log says so', async () => {
    const refused: SendOutcome = { kind: 'refused', why: 'status 400' };
    const world = deliveryWorld({ ops: ({ id }) => (id === 'bad' ? refused : id === 'old' ? failed : delivered) });
    world.add('bad');
    world.add('old');
    const givenUp = () =>
      world.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields?.notification);
    await world.clock.advance(giveUpAfterMs - 1);
    assert.deepEqual(givenUp(), ['bad']);
    await world.clock.advance(600_000);
    assert.deepEqual(givenUp(), ['bad', 'old']);
    assert.deepEqual(world.delivery.outbox(), {});
  });

  test('has a bounded queue, from which reminders are dropped first', async () => {
    const world = deliveryWorld({ ops: () => failed });
    world.add('first');
    world.add('reminder', { kind: 'reminder' });
    for (let index = 0; index < queueMax; index += 1) world.add(`n${index}`);
    const ids = world.delivery.outbox().ops?.map(({ notification }) => notification.id) ?? [];
    assert.equal(ids.length, queueMax);
    assert.deepEqual([ids[0], ids[1]], ['first', 'n1']);
    assert.deepEqual(
      world.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields?.notification),
      ['reminder', 'n0'],
    );
    await world.delivery.stop();
  });

  test('drops what cannot even be tried, and nothing behind it', async () => {
    const [clock, log] = [virtualClock({ quiet }), recordingLog()];
    const sent: string[] = [];
    const random = { ...seededRandom(1), next: () => assert.fail('no chance') };
    let changes = 0;
    const onChange = () => {
      changes += 1;
      if (changes === 2) throw new Error('no change');
    };
    const send = async (_: string, { id }: Notification) => {
      sent.push(id);
      return id === 'a' ? failed : delivered;
    };
    const delivery = startDelivery(['ops'], {}, { clock, random, log, send, onChange });
    for (const id of ['a', 'b', 'c', 'd']) delivery.add({ ...sampleNotification(), id });
    delivery.release();
    await clock.advance(1_000);
    assert.deepEqual(sent, ['a', 'b', 'c', 'd']);
    const errors = log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields?.notification);
    assert.deepEqual([errors, delivery.outbox()], [['a', 'c'], {}]);
  });

  test('follows another configuration: what stays is not disturbed, and what is gone is dropped', async () => {
    const world = deliveryWorld({ ops: (_, attempt) => (attempt < 3 ? failed : delivered), gone: () => failed });
    world.add('one');
    await world.clock.advance(500);
    world.delivery.configure(['ops', 'added']);
    assert.equal(world.log.lines.at(-1)?.message, 'alerts dropped: their receiver is no longer configured');
    world.delivery.add({ ...sampleNotification(), id: 'two', receivers: ['added', 'gone', 'ops'] });
    world.delivery.release();
    await world.clock.advance(60_000);
    assert.deepEqual([world.idsAt('ops'), world.idsAt('added')], [['one', 'one', 'one', 'two', 'two', 'two'], ['two']]);
    assert.deepEqual([...new Set(world.idsAt('gone'))], ['one']);
    assert.deepEqual(world.delivery.outbox(), {});
  });

  test('drops what waits for a receiver that is no longer configured, and says so', () => {
    const [clock, log] = [virtualClock({ quiet }), recordingLog()];
    const kept = { gone: [{ notification: sampleNotification(), queuedMs: 0, attempts: 0 }] };
    const ports = { clock, random: seededRandom(1), log, send: async () => delivered, onChange: () => undefined };
    assert.deepEqual(startDelivery(['ops'], kept, ports).outbox(), {});
    assert.equal(log.lines.length, 1);
  });
});

describe('alerts whose process is killed', () => {
  const life = (seed: number, kills: number) => killedLife({ seed, kills, kept: keptInMemory, quiet });

  const idsOf = (arrived: readonly Notification[], kind: string) =>
    arrived.filter((each) => each.kind === kind).map(({ id }) => id);

  test('1,000 times at random points report each beginning and each end, with the same id', async () => {
    const killsPerLife = 4;
    for (let seed = 1; seed <= 1_000 / killsPerLife; seed += 1) {
      const arrived = await life(seed, killsPerLife);
      for (const kind of ['firing', 'resolved']) {
        const ids = idsOf(arrived, kind);
        assert.ok(ids.length >= 1 && ids.length <= 1 + killsPerLife, `seed ${seed}: ${kind} ${ids}`);
        assert.equal(new Set(ids).size, 1, `seed ${seed}: ${kind} ${ids}`);
      }
    }
  });

  test('never report each of them once', async () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const arrived = await life(seed, 0);
      assert.deepEqual(
        arrived.map(({ kind }) => kind),
        ['firing', 'resolved'],
        `seed ${seed}`,
      );
    }
  });
});
