/**
 * The event history of a probe that never comes to rest, by the items that are stored: those of a burst, then
 * one a minute, in whatever process the probe is held.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventRecord } from '../../shared/core/spec/records.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';

const minuteMs = 60_000;
const burst = 1_000;
const refillMinutes = 1;

const name = 'target-1';
const attempt = (outcome: Attempt['outcome'], output: string): Attempt => ({
  outcome,
  output,
  ...(outcome === 'failure' && { failureClass: 'HTTP_STATUS' as const }),
  timings: { totalMs: 1 },
});
const success = attempt('success', 'ok');
const failure = attempt('failure', 'HTTP probe failed with statuscode: 503');
const warning = attempt('warning', 'Probe terminated redirects');

type Restless = {
  readonly probe: object;
  /** Longer than the burst lasts. */
  readonly minutes: number;
  /** What the probe finds, one after the other, again and again. */
  readonly answers: readonly Attempt[];
};

const changing: Restless = { minutes: 15, probe: { failureThreshold: 1 }, answers: [success, failure] };
const kinds: Readonly<Record<string, Restless>> = {
  'a result that changes each second': changing,
  'a failure that never reaches its threshold': {
    minutes: 40,
    probe: { failureThreshold: 3 },
    answers: [failure, success],
  },
  'a warning between failures': { minutes: 22, probe: { failureThreshold: 3 }, answers: [failure, warning] },
  'a result that changes, with failures before it': {
    minutes: 26,
    probe: { failureThreshold: 2 },
    answers: [success, failure, failure, success, failure],
  },
};

type Holding = {
  /** One run that lasts, runs of a minute in one process, or each in a process that remembers nothing. */
  readonly runs: 'one' | 'warm' | 'cold';
};

async function restless({ minutes, probe, answers }: Restless, { runs }: Holding): Promise<ShardWorld> {
  const world = shardWorld();
  const { clock } = world;
  let probes = 0;
  world.answer(async () => {
    probes += 1;
    await sleep(clock, 1);
    return answers[probes % answers.length] ?? success;
  });
  await world.put(name, {
    readinessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 1, ...probe },
  });
  const endMs = clock.nowMs() + minutes * minuteMs;
  const memory = new Map();
  const slotMs = runs === 'one' ? minutes * minuteMs : minuteMs;
  for (let slot = 1; clock.nowMs() < endMs; slot += 1) {
    const run = await world.run(
      { slot, slotEndMs: clock.nowMs() + slotMs },
      {},
      {
        memory: runs === 'cold' ? new Map() : memory,
      },
    );
    await clock.runUntil(run.ended);
  }
  assert.ok(probes > minutes * 50, `${probes} probes`);
  return world;
}

type Listed = { readonly items: readonly Omit<EventRecord, 'uid'>[] };

/** As the API lists them. */
const listed = async (world: ShardWorld) =>
  ((await (await world.request('GET', `/v1/namespaces/default/targets/${name}/events?limit=500`)).json()) as Listed)
    .items;

/** Every transition is on the bus, and those that are kept, with the last one, account for the others. */
async function assertNothingHidden(world: ShardWorld): Promise<void> {
  const { version, result } = await world.probe(name, 'main#readiness');
  const versions = new Set(world.publishedEvents('Probe Result Changed').map((event) => event.version));
  assert.equal(versions.size, version);
  const kept = await world.history(name);
  const last = (await listed(world)).findLast(({ kind }) => kind === 'transition');
  const isKept = kept.some(({ id }) => id === last?.id);
  const counted = kept.filter(({ kind }) => kind === 'transition').reduce((sum, { count }) => sum + count, 0);
  assert.equal(counted + (isKept ? 0 : (last?.count ?? 0)), version);
  assert.equal(last?.result, result);
}

for (const [kind, one] of Object.entries(kinds))
  describe(kind, () => {
    for (const runs of one === changing ? (['one', 'warm', 'cold'] as const) : (['cold'] as const))
      test(`is bounded in the history, and nothing is hidden (${runs})`, async () => {
        const world = await restless(one, { runs });
        const entries = await world.history(name);
        const entriesMax = burst + one.minutes / refillMinutes + 1;
        assert.ok(entries.length <= entriesMax, `${entries.length} entries in ${one.minutes} minutes`);
        assert.ok(entries.length >= burst, `${entries.length} entries`);
        await assertNothingHidden(world);
      });
  });

test('what a client asks for is in the history, whatever else the probe has written', async () => {
  const world = await restless(changing, { runs: 'one' });
  const before = (await world.history(name)).length;
  const run = await world.run({ slot: 2, slotEndMs: world.clock.nowMs() + 3 * minuteMs });
  for (let asked = 0; asked < 5; asked += 1) {
    await world.trigger(name);
    await world.clock.advance(5_000);
  }
  await world.clock.runUntil(run.ended);
  const entries = await world.history(name);
  assert.equal(entries.filter(({ reason }) => reason === 'Probed').length, 5);
  assert.ok(entries.length <= before + 5 + 4, `${entries.length - before} more`);
});

test('a clock that was a day ahead does not keep entries away for a day', async () => {
  const world = await restless(changing, { runs: 'one' });
  const dayMs = 24 * 60 * minuteMs;
  const held = async (slot: number, ms: number) =>
    world.clock.runUntil((await world.run({ slot, slotEndMs: world.clock.nowMs() + ms })).ended);
  world.clock.jump(dayMs);
  await held(2, 5 * minuteMs);
  world.clock.jump(-dayMs);
  const before = (await world.history(name)).length;
  await held(3, 2 * refillMinutes * minuteMs);
  const more = (await world.history(name)).length - before;
  assert.ok(more >= 1 && more <= 3, `${more} more`);
});

test('the next holder publishes a change that is not in the history, with the attempts behind it', async () => {
  const world = await restless(changing, { runs: 'one' });
  world.sync(false);
  world.faults.refuses = ({ detailType }) => detailType === 'Probe Result Changed';
  const dying = await world.run({ slot: 2, slotEndMs: world.clock.nowMs() + 3 * minuteMs });
  await world.clock.advance(10_500);
  dying.crash();
  world.faults.refuses = () => false;
  world.answer(() => failure);
  const committed = await world.probe(name, 'main#readiness');
  const entries = await world.history(name);
  assert.ok(!entries.some(({ id }) => id.endsWith(String(committed.version))), 'it is in the history');
  await world.clock.advance(90_000);
  const before = world.published.length;
  await world.run({ slot: 3, slotEndMs: world.clock.nowMs() + 10 * minuteMs });
  await world.clock.advance(5 * minuteMs);
  const again = world.published.slice(before).flatMap(({ detail }) => ('attempts' in detail ? [detail] : []));
  const change = again.find((detail) => 'version' in detail && detail.version === committed.version);
  assert.ok(change && 'previousResult' in change && change.attempts.length > 0, JSON.stringify(again.slice(0, 2)));
});
