/** The file of kept alerts, damaged at one place or unreadable: alerts go on with the rest of it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { alertFile } from '../../../functions/local/alerts/alert-file.ts';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import { type AlertLog, startAlerting } from '../../../shared/alerts/alerting.ts';
import type { KeptAlerts } from '../../../shared/alerts/kept-alerts.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { alertWorld, rulesOf, sampleNotification, seen } from '../../alerts/alert-world.ts';
import { fastClock as clock } from '../../support/fast-clock.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';

type Value = null | string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

/** Three incidents in two batches, and two notifications for each of two receivers. */
function keptValue(): Value {
  const world = alertWorld(rulesOf('groupBy: [app]'));
  const sinceMs = clock.nowMs() - 60_000;
  for (const [name, app] of [
    ['a', 'x'],
    ['b', 'x'],
    ['c', 'y'],
  ] as const)
    world.take(seen(name, 'False', { labels: { app }, sinceMs }));
  world.pass(10);
  const queue = (receiver: string) =>
    [1, 2].map((at) => ({
      notification: sampleNotification({ id: `${receiver}-${at}`, receivers: [receiver] }),
      queuedMs: clock.nowMs(),
      attempts: 0,
    }));
  const kept: KeptAlerts = { version: 1, state: world.state(), outbox: { ops: queue('ops'), other: queue('other') } };
  return JSON.parse(JSON.stringify(kept));
}

type Path = readonly (string | number)[];

/** Every place of the value, its own included. */
function placesOf(value: Value, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, key]))];
}

function damaged(value: Value, [key, ...rest]: Path, put: Value | undefined): Value | undefined {
  if (key === undefined) return put;
  const entries = Object.entries(value as { readonly [key: string]: Value }).flatMap(([name, inner]) => {
    const next = name === `${key}` ? damaged(inner, rest, put) : inner;
    return next === undefined ? [] : [[name, next] as const];
  });
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

function alertingWith(alertLog: AlertLog) {
  const log = recordingLog();
  const sent: Notification[] = [];
  const send = async (receiver: string, notification: Notification) => {
    // A format reads all of it.
    assert.ok(JSON.stringify(notification.incidents.map(({ message }) => message.length)), receiver);
    sent.push(notification);
    return { kind: 'delivered' } as const;
  };
  const options = { rules: rulesOf('groupBy: [app]'), receivers: ['ops', 'other'] };
  const alerting = startAlerting(options, { clock, random: systemRandom, log, send, alertLog });
  return { alerting, log, sent };
}

const names = (sent: readonly Notification[]) =>
  new Set(sent.flatMap(({ incidents }) => incidents.map((each) => each.name)));

/** What lasts, by the label that groups it, as a scan sees it. */
const lasting = { a: 'x', b: 'x', c: 'y', new: 'z' };

type Case = { readonly place: Path; readonly put: Value | undefined };

async function liveThrough(path: string, { place, put }: Case): Promise<void> {
  const value = keptValue();
  writeFileSync(path, JSON.stringify(damaged(value, place, put)) ?? '');
  const { alerting, sent, log } = alertingWith(alertFile(path, recordingLog()));
  for (const [name, app] of Object.entries(lasting))
    alerting.offer(seen(name, 'False', { labels: { app }, sinceMs: clock.nowMs() }));
  await until('a new incident is reported', { withinMs: 30_000, pollMs: 20 }, async () => names(sent).has('new'));
  // Others that are reported again are in the same window, at the latest a tick later.
  await sleep(clock, 4_000);
  await alerting.stop();
  const { state } = JSON.parse(readFileSync(path, 'utf8')) as KeptAlerts;
  assert.deepEqual(
    Object.values(state.incidents)
      .map(({ name }) => name)
      .toSorted(),
    Object.keys(lasting),
  );
  for (const [key, { name, batch }] of Object.entries(state.incidents)) {
    const found = Object.values(state.batches).find(({ id }) => id === batch);
    assert.ok(found?.reportedMs !== undefined && found.firing.includes(key), `${name} is in a batch that was reported`);
  }
  for (const id of untouched(place))
    assert.ok(
      sent.some((each) => each.id === id),
      `${id} is delivered`,
    );
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'error'),
    [],
  );
}

/** The kept notifications that the damage does not concern. */
function untouched([first, receiver, at]: Path): readonly string[] {
  const all = ['ops-1', 'ops-2', 'other-1', 'other-2'];
  const isAllGone = first === undefined || first === 'version' || (first === 'state' && receiver === undefined);
  if (isAllGone || (first === 'outbox' && receiver === undefined)) return [];
  if (first !== 'outbox') return all;
  return all.filter(
    (id) => !id.startsWith(`${receiver}-`) || (at !== undefined && id !== `${receiver}-${Number(at) + 1}`),
  );
}

const casesAtOnce = 25;
const caseCount = 150;

describe('kept alerts', () => {
  test('that are damaged at one place take nothing else with them, and what lasts is reported', async (t) => {
    const folder = temporaryFolder(t);
    const random = seededRandom(20_301);
    const places = placesOf(keptValue());
    const puts: readonly (Value | undefined)[] = [undefined, null, 0, -1, 'x', true, [], {}, [null], { x: null }];
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)] as Item;
    const cases = Array.from({ length: caseCount }, () => ({ place: pick(places), put: pick(puts) }));
    for (let at = 0; at < caseCount; at += casesAtOnce)
      await Promise.all(
        cases.slice(at, at + casesAtOnce).map(async (each, index) => {
          await liveThrough(join(folder, `${at + index}.json`), each).catch((error: unknown) => {
            throw new Error(`${each.place.join('.')} is ${JSON.stringify(each.put)}`, { cause: error });
          });
        }),
      );
  });

  test('that are damaged are set aside as they were', async (t) => {
    const path = join(temporaryFolder(t), 'alerts.json');
    const text = JSON.stringify(damaged(keptValue(), ['state', 'incidents'], null));
    writeFileSync(path, text);
    const log = recordingLog();
    await alertFile(path, log).load();
    assert.equal(readFileSync(`${path}.unreadable`, 'utf8'), text);
    const [line] = log.lines;
    assert.deepEqual([line?.level, line?.fields?.problem], ['error', 'incidents must be an object']);
  });

  for (const failures of [1, 5])
    test(`that cannot be read ${failures} times are read then, and what was seen meanwhile counts`, async () => {
      const value = keptValue();
      let reads = 0;
      const saved: KeptAlerts[] = [];
      const { alerting, sent, log } = alertingWith({
        async load() {
          reads += 1;
          if (reads <= failures) throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
          return value as unknown as KeptAlerts;
        },
        save: async (kept) => void saved.push(kept),
        setAside: async () => assert.fail('nothing is damaged'),
      });
      alerting.offer(seen('new', 'False', { labels: { app: 'z' }, sinceMs: clock.nowMs() }));
      await until('a new incident is reported', { withinMs: 30_000, pollMs: 20 }, async () => names(sent).has('new'));
      await alerting.stop();
      assert.equal(Object.keys(saved.at(-1)?.state.incidents ?? {}).length, 4);
      assert.deepEqual(
        untouched(['state', 'batches']).filter((id) => !sent.some((each) => each.id === id)),
        [],
      );
      assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 1, 'it is logged once');
    });

  test('that can never be read do not keep alerts from being sent', async () => {
    const saves: KeptAlerts[] = [];
    const { alerting, sent, log } = alertingWith({
      load: () => Promise.reject(new Error('EIO: i/o error, read')),
      save: async (kept) => void saves.push(kept),
      setAside: async () => undefined,
    });
    alerting.offer(seen('new', 'False', { labels: { app: 'z' }, sinceMs: clock.nowMs() }));
    await until('it is reported', { withinMs: 60_000, pollMs: 20 }, async () => names(sent).has('new'));
    await alerting.stop();
    assert.equal(log.lines.filter(({ level }) => level === 'error').length, 1);
  });

  test('that cannot be kept are logged once, until they were kept again', async () => {
    const outcomes = ['fails', 'fails', 'fails', 'fails', 'kept', 'fails'];
    const { alerting, log } = alertingWith({
      load: async () => undefined,
      async save() {
        if (outcomes.shift() === 'fails') throw new Error('ENOSPC: no space left on device, write');
      },
      setAside: async () => undefined,
    });
    for (let at = 0; outcomes.length > 0; at += 1) {
      const [before, name] = [outcomes.length, `new-${at}`];
      alerting.offer(seen(name, 'False', { labels: { app: 'z' }, sinceMs: clock.nowMs() }));
      const isTried = async () => outcomes.length < before;
      await until('it was to be kept', { withinMs: 60_000, pollMs: 20 }, isTried);
    }
    await alerting.stop();
    assert.equal(log.lines.filter(({ message }) => message.startsWith('alerts cannot be kept')).length, 2);
  });

  test('that are not read yet are not replaced by a process that ends', async () => {
    const { alerting } = alertingWith({
      load: () => Promise.reject(new Error('EIO: i/o error, read')),
      save: () => assert.fail('saved'),
      setAside: () => assert.fail('set aside'),
    });
    alerting.offer(seen('new', 'False', { sinceMs: clock.nowMs() }));
    alerting.configure({ rules: rulesOf(''), receivers: ['ops'] });
    await alerting.stop();
  });
});
