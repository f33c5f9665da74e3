/** What is repeated while the table has no capacity, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Store, StoreThrottled, StoreUnavailable } from '../../shared/store/store.ts';
import { patientStore, throttledPauseMs, whileThrottled } from '../../shared/store/throttled.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const key = { pk: 'B#00', sk: 'a' };

/** Each call is throttled so often, then answered. */
function scarceStore(throttles: number) {
  const clock = virtualClock();
  const ports = { clock, random: seededRandom(1) };
  const calledMs: number[] = [];
  const answered = async <Value>(value: Value): Promise<Value> => {
    calledMs.push(clock.monotonicMs());
    if (calledMs.length <= throttles) throw new StoreThrottled('no capacity left');
    return value;
  };
  const store: Store = {
    get: () => answered(key),
    query: () => answered([key]),
    write: () => answered({ kind: 'written' } as const),
  };
  return { clock, ports, calledMs, store: patientStore(store, ports) };
}

const calls: { readonly [name: string]: (store: Store) => Promise<unknown> } = {
  get: (store) => store.get(key),
  query: (store) => store.query({ pk: key.pk }),
  write: (store) => store.write([{ kind: 'put', item: key }], { token: 't' }),
};

for (const [name, call] of Object.entries(calls)) {
  test(`a ${name} is repeated until it is answered`, async () => {
    const { clock, calledMs, store } = scarceStore(4);
    assert.ok(await clock.runUntil(call(store)));
    assert.equal(calledMs.length, 5);
  });

  test(`a ${name} is given up 5 s after its first throttle`, async () => {
    const { clock, calledMs, store } = scarceStore(1_000);
    await assert.rejects(clock.runUntil(call(store)), StoreThrottled);
    const tookMs = (calledMs.at(-1) ?? 0) - (calledMs[0] ?? 0);
    assert.ok(tookMs >= 5_000 && tookMs <= 7_000, `after ${tookMs} ms`);
    assert.ok(calledMs.length < 12, `${calledMs.length} calls`);
  });
}

test('pauses double up to 2 s, with jitter below', () => {
  for (let throttles = 1; throttles < 12; throttles += 1) {
    const bound = Math.min(2_000, 50 * 2 ** (throttles - 1));
    assert.equal(throttledPauseMs(throttles, { ...seededRandom(1), next: () => 0 }), bound / 2);
    assert.equal(throttledPauseMs(throttles, { ...seededRandom(1), next: () => 1 }), bound);
  }
});

test('what fails otherwise is not repeated', async () => {
  const { ports } = scarceStore(0);
  let tries = 0;
  const call = async () => {
    tries += 1;
    throw new StoreUnavailable('out of reach');
  };
  await assert.rejects(
    whileThrottled(ports, call, () => true),
    StoreUnavailable,
  );
  assert.equal(tries, 1);
});
