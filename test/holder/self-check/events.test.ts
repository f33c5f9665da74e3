/** When a prober that doubts itself says so, and when it says that the doubt is over. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BusEvent } from '../../../shared/bus/events.ts';
import type { Holder } from '../../../shared/holder/holder.ts';
import { inheritedFrom } from '../../../shared/holder/inherited.ts';
import type { BeatState } from '../../../shared/holder/self-check/events.ts';
import { doubtPublisher, overloadPublisher } from '../../../shared/holder/self-check/events.ts';
import { generationAttribute } from '../../../shared/store/records/items.ts';
import { StoreUnavailable } from '../../../shared/store/store.ts';
import { shardMessage } from '../../support/shard-messages.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const startMs = Date.UTC(2030, 0, 1);
const sound: BeatState = { observedAtMs: 0, behind: {}, late: 0, degradedTold: true, overloadedTold: false };
const doubtful: BeatState = { ...sound, doubt: { reason: 'NetworkUnreachable', sinceMs: startMs - 7_000 } };

/** Shard 00 of generation 1, whose last holder left this behind. */
function world(inherited: { readonly degraded: boolean; readonly degradedTold: boolean }) {
  const clock = virtualClock({ startMs });
  const published: BusEvent[] = [];
  const bus = { takes: true, isSlow: false };
  const layout = { generation: 1, isOut: false };
  const get = async () => {
    if (layout.isOut) throw new StoreUnavailable('a test');
    return { pk: 'LAYOUT', sk: 'LAYOUT', [generationAttribute('00')]: layout.generation };
  };
  const waiting: (() => void)[] = [];
  const publish = (events: readonly BusEvent[], settled: (isTaken: boolean) => void) => {
    published.push(...events);
    const answer = () => settled(bus.takes);
    if (bus.isSlow) waiting.push(answer);
    else answer();
  };
  const answer = () => {
    for (const each of waiting.splice(0)) each();
  };
  const holder = {
    run: { ports: { clock, store: { get } }, message: shardMessage() },
    publisher: { publish },
  } as unknown as Holder;
  const shown = () =>
    published.splice(0).map(({ detailType, timeMs, detail }) => {
      const since = 'since' in detail ? detail.since : undefined;
      return [detailType, 'id' in detail ? detail.id : undefined, timeMs, since];
    });
  return {
    holder,
    clock,
    bus,
    answer,
    layout,
    doubtEvents: doubtPublisher(holder, { ...inheritedFrom([]), ...inherited }),
    shown,
  };
}

describe('the end of a doubt', () => {
  test('is published with the time when it was first seen, the same for every try', async () => {
    const { clock, bus, doubtEvents, shown } = world({ degraded: true, degradedTold: true });
    bus.takes = false;
    await doubtEvents.written(sound);
    await clock.advance(5_000);
    bus.takes = true;
    await doubtEvents.written(sound);
    await clock.advance(5_000);
    await doubtEvents.written(sound);
    const recovered = ['Prober Recovered', `shard-00#recovered#${startMs}`, startMs, '2030-01-01T00:00:00.000Z'];
    assert.deepEqual(shown(), [recovered, recovered]);
  });

  test('has a time of its own when another doubt lay in between, which comes after the first one', async () => {
    const { clock, doubtEvents, shown } = world({ degraded: true, degradedTold: true });
    await doubtEvents.written(sound);
    await clock.advance(60_000);
    await doubtEvents.written(doubtful);
    await clock.advance(60_000);
    await doubtEvents.written(sound);
    assert.deepEqual(
      shown().map(([type, , timeMs]) => [type, timeMs]),
      [
        ['Prober Recovered', startMs],
        // Suspected before that end, and later all the same: subscribers go by the time.
        ['Prober Degraded', startMs + 1],
        ['Prober Recovered', startMs + 120_000],
      ],
    );
  });
});

describe('a doubt', () => {
  test('whose event is still on its way is not published again; one that was refused is', async () => {
    const { bus, answer, doubtEvents, shown } = world({ degraded: false, degradedTold: false });
    const types = () => shown().map(([type]) => type);
    bus.isSlow = true;
    for (let beat = 0; beat < 3; beat += 1) await doubtEvents.written(doubtful);
    assert.deepEqual(types(), ['Prober Degraded']);
    bus.takes = false;
    answer();
    for (let beat = 0; beat < 3; beat += 1) await doubtEvents.written(doubtful);
    assert.deepEqual(types(), ['Prober Degraded']);
    bus.takes = true;
    answer();
    await doubtEvents.written(doubtful);
    assert.deepEqual(types(), []);
  });

  test('of a shard that LAYOUT has divided is not published: the holders of its parts publish their own', async () => {
    const { layout, doubtEvents, shown } = world({ degraded: false, degradedTold: false });
    layout.generation = 2;
    await doubtEvents.written(doubtful);
    assert.deepEqual(shown(), []);
    assert.equal(doubtEvents.published(true), false, 'subscribers know of no doubt');
  });

  test('that begins while LAYOUT is unreachable is published with the next beat', async () => {
    const { layout, doubtEvents, shown } = world({ degraded: false, degradedTold: false });
    layout.isOut = true;
    await doubtEvents.written(doubtful);
    assert.deepEqual(shown(), []);
    layout.isOut = false;
    await doubtEvents.written(doubtful);
    const types = shown().map(([type]) => type);
    assert.deepEqual(types, ['Prober Degraded']);
    assert.equal(doubtEvents.published(true), true);
  });
});

describe('an overload', () => {
  const overload = { reason: 'Cpu', sinceMs: startMs - 30_000 } as const;
  const overloaded: BeatState = { ...sound, overload };
  const published = (inherited: { readonly overloaded: boolean; readonly overloadedTold: boolean }) => {
    const { holder, clock, shown } = world({ degraded: false, degradedTold: false });
    return { clock, shown, events: overloadPublisher(holder, { ...inheritedFrom([]), ...inherited }) };
  };

  test('is published once when it begins and once when it ends, beside a doubt', async () => {
    const { clock, shown, events } = published({ overloaded: false, overloadedTold: false });
    for (const state of [sound, overloaded, overloaded, { ...overloaded, ...doubtful }, sound, sound]) {
      await events.written(state);
      await clock.advance(5_000);
    }
    assert.deepEqual(shown(), [
      ['Prober Overloaded', `shard-00#overloaded#${overload.sinceMs}`, overload.sinceMs, '2029-12-31T23:59:30.000Z'],
      ['Prober Caught Up', `shard-00#caught-up#${startMs + 20_000}`, startMs + 20_000, '2030-01-01T00:00:20.000Z'],
    ]);
  });

  test('that goes on in the next run is not published again, and its end is', async () => {
    const { shown, events } = published({ overloaded: true, overloadedTold: true });
    await events.written(overloaded);
    assert.deepEqual(shown(), []);
    await events.written(sound);
    assert.deepEqual(
      shown().map(([type]) => type),
      ['Prober Caught Up'],
    );
  });
});
