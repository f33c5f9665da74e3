/** The event history of a target in the file is bounded by number, and no other item is touched. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { boundHistory } from '../../functions/local/process/history-bounds.ts';
import { eventKey, latestKey, statusKey, type TargetAddress, targetAddress } from '../../shared/store/records/keys.ts';
import { type HistoryPlace, historyStart } from '../../shared/store/sqlite/history.ts';
import { type SqliteStore, sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const folder = temporaryFolder();
let files = 0;

const idOf = (number: number): string => String(number).padStart(6, '0');

async function storeWith(events: Readonly<Record<string, number>>) {
  files += 1;
  const store = sqliteStore({ path: join(folder, `${files}.db`) });
  let tokens = 0;
  const put = (key: { pk: string; sk: string }) => {
    tokens += 1;
    return store.write([{ kind: 'put', item: { ...key, n: 1 } }], { token: `${tokens}` });
  };
  for (const [name, count] of Object.entries(events)) {
    const at = targetAddress('default', name);
    await put(statusKey(at));
    await put(latestKey(at, 'main/liveness'));
    await Promise.all(Array.from({ length: count }, (_, number) => put(eventKey(at, idOf(number)))));
  }
  return store;
}

async function eventsOf(store: SqliteStore, { eventsPk, prefix }: TargetAddress): Promise<readonly string[]> {
  const items = await store.query({ pk: eventsPk, from: `${prefix}EVENT#`, to: `${prefix}EVENT$` });
  return items.map(({ sk }) => sk.slice(`${prefix}EVENT#`.length));
}

/** Does a whole pass, and returns the number of its parts. */
function pass(store: SqliteStore, keep: number, { targetsMax = 3, eventsMax = 7 } = {}): number {
  let place: HistoryPlace | undefined = historyStart;
  let parts = 0;
  while (place) {
    const { removed, next }: ReturnType<SqliteStore['trimHistory']> = store.trimHistory(place, {
      keep,
      targetsMax,
      eventsMax,
    });
    assert.ok(removed <= eventsMax, `${removed} in one part`);
    place = next;
    parts += 1;
    assert.ok(parts < 1_000, 'a pass ends');
  }
  return parts;
}

test('each target keeps its newest events, and every other item', async () => {
  const counts = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`t${at}`, (at * 7) % 40]));
  const store = await storeWith(counts);
  assert.ok(pass(store, 10) > 20, 'in many parts');
  for (const [name, count] of Object.entries(counts)) {
    const at = targetAddress('default', name);
    const kept = Array.from({ length: count }, (_, number) => idOf(number)).slice(-10);
    assert.deepEqual(await eventsOf(store, at), kept, name);
    assert.ok(await store.get(statusKey(at)));
    assert.ok(await store.get(latestKey(at, 'main/liveness')));
  }
  store.close();
});

test('a name that begins another one is a target of its own', async () => {
  const store = await storeWith({ a: 12, ab: 3, 'a-b': 12, b: 0 });
  pass(store, 5);
  const kept = await Promise.all(
    ['a', 'ab', 'a-b', 'b'].map(async (name) => (await eventsOf(store, targetAddress('default', name))).length),
  );
  assert.deepEqual(kept, [5, 3, 5, 0]);
  store.close();
});

test('a target that flaps each second for a week has 1,000 events, and fewer in a file of gigabytes', async () => {
  for (const [bytes, keep] of [
    [0, 1_000],
    [2 ** 30 + 1, 100],
    [2 ** 31 + 1, 20],
  ] as const) {
    const clock = virtualClock();
    const log = recordingLog();
    const asked = new Set<number>();
    let left = 600_000;
    const stop = boundHistory({
      clock,
      log,
      usedBytes: () => bytes,
      trim(_, options) {
        asked.add(options.keep);
        const removed = Math.min(left - options.keep, options.eventsMax);
        left -= removed;
        return { removed, ...(removed > 0 && { next: historyStart }) };
      },
    });
    await clock.advance(600_000);
    stop();
    assert.deepEqual([[...asked], left, clock.pending()], [[keep], keep, 0]);
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields?.events]),
      [['info', 600_000 - keep]],
    );
  }
});

test('a full disk while the history is trimmed does not end the process, and the next pass tries again', async () => {
  const clock = virtualClock();
  const log = recordingLog();
  let tries = 0;
  const trim = () => {
    tries += 1;
    throw new StoreUnavailable('database or disk is full');
  };
  const stop = boundHistory({ clock, log, trim, usedBytes: () => 0 });
  await clock.advance(180_000);
  stop();
  assert.equal(tries, 3);
  assert.ok(log.lines.every(({ level }) => level === 'warn'));
});

test('the file says what is in use, not what is free', async () => {
  const store = await storeWith({ a: 2_000 });
  const before = store.usedBytes();
  pass(store, 0, { targetsMax: 10, eventsMax: 1_000 });
  const after = store.usedBytes();
  assert.ok(after < before / 2, `${before} and then ${after}`);
  store.close();
});
