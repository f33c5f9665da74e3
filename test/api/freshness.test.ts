import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type EpochRecord, encodeEpoch, encodeRun, type RunRecord } from '../../shared/store/items.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { apiWorld, startMs, targetPath } from './world.ts';

const path = targetPath('checkout');
const { bucket } = targetAddress('default', 'checkout');

type Joined = { readonly epoch?: Partial<EpochRecord>; readonly run?: Partial<RunRecord> };

type Shown = {
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly probes: readonly { readonly result?: string; readonly reason?: string }[];
  };
};

/** A target with a readiness probe of this period, `afterMs` after its registration. */
async function shown(periodSeconds: number, afterMs: number, { epoch, run }: Joined) {
  const world = apiWorld();
  const body = { spec: { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 1 }, periodSeconds } } };
  await world.ask('PUT', path, body);
  if (epoch) await world.put(encodeEpoch(bucket, { token: 1, shard: '00-ff', claimedAtMs: startMs, ...epoch }));
  const begun = { token: 1, generation: 1, slot: 0, doneSlot: -1, beat: 1 };
  const beaten = { beatAtMs: startMs, observedAtMs: startMs, degraded: false };
  if (run) await world.put(encodeRun('00-ff', { ...begun, ...beaten, ...run }));
  world.advance(afterMs);
  const { status } = (await world.ask<Shown>('GET', path)).body;
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  return [ready?.status, ready?.reason, status.probes[0]?.result, status.probes[0]?.reason];
}

const fresh = ['Unknown', 'NotYetProbed', 'unknown', 'NotYetProbed'];
const stale = ['Unknown', 'Late', 'unknown', 'Late'];

/**
 * Times after the registration, ms: that of the last beat, and when the probe of each target that is behind was last
 * done.
 */
const beaten = (observedMs: number, behind: Readonly<Record<string, number>>): Joined => ({
  epoch: {},
  run: {
    observedAtMs: startMs + observedMs,
    behind: Object.fromEntries(
      Object.entries(behind).map(([name, seenMs]) => [`default/${name}#main#readiness`, startMs + seenMs]),
    ),
  },
});

type Row = readonly [what: string, periodSeconds: number, afterMs: number, joined: Joined, expected: unknown];
/** Another run of the shard than the one that EPOCH names. */
const another = { token: 2, observedAtMs: startMs + 599_000 };
const claimed = { epoch: { token: 2, claimedAtMs: startMs + 599_000 }, run: { token: 2 } };
const doubting = ['Unknown', 'ProberDegraded', 'unknown', 'ProberDegraded'];

const rows: readonly Row[] = [
  ['observed 40 s ago', 10, 40_000, { epoch: {}, run: {} }, fresh],
  ['observed longer ago', 10, 40_001, { epoch: {}, run: {} }, stale],
  ['three periods ago', 60, 180_000, { epoch: {}, run: {} }, fresh],
  ['more than three periods ago', 60, 180_001, { epoch: {}, run: {} }, stale],
  ['observed just now', 10, 600_000, { epoch: {}, run: { observedAtMs: startMs + 599_000 } }, fresh],
  ['claimed by another run just now, which has observed nothing', 10, 600_000, claimed, stale],
  ['about to be claimed by another run, observed just now', 10, 600_000, { epoch: {}, run: another }, fresh],
  ['claimed, and never beaten', 10, 60_000, { epoch: {} }, stale],
  ['never claimed', 10, 60_000, {}, stale],
  ['never claimed, but registered just now', 10, 1_000, {}, fresh],
  ['its probe is late, others are not', 10, 60_000, beaten(59_000, { checkout: 10_000 }), stale],
  ['another probe is late', 10, 60_000, beaten(59_000, { cart: 10_000 }), fresh],
  ['its probe is behind, but not for too long yet', 10, 60_000, beaten(59_000, { checkout: 25_000 }), fresh],
  ['its probe was behind at the last beat, and is late by now', 10, 60_000, beaten(40_000, { checkout: 5_000 }), stale],
  ['a prober that doubts itself', 10, 1_000, { epoch: {}, run: { degraded: true } }, doubting],
];

describe('what is shown is only as good as the last observation', () => {
  for (const [what, periodSeconds, afterMs, joined, expected] of rows)
    test(what, async () => assert.deepEqual(await shown(periodSeconds, afterMs, joined), expected));
});
