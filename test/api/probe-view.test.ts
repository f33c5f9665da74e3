import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeEpoch, encodeRun } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { apiWorld, startMs, targetPath } from './world.ts';

const path = targetPath('app');
const { bucket } = targetAddress('default', 'app');
const periodSeconds = 60;

type Shown = {
  readonly result: string;
  readonly reason?: string;
  readonly message?: string;
  readonly since: string;
  readonly lastProbeTime?: string;
  readonly lastChangeTime?: string;
  readonly failureClass?: string;
  readonly output?: string;
};

/** Times in s after the registration. */
type Seen = {
  readonly atSeconds?: number;
  readonly observedSeconds?: number;
  readonly degraded?: boolean;
  readonly behindSeconds?: number;
};

/** A target with one readiness probe, whose item and whose shard's beat say this. */
async function shown(
  probe: object,
  { atSeconds = 0, observedSeconds = atSeconds, degraded = false, behindSeconds }: Seen = {},
) {
  const world = apiWorld();
  const readinessProbe = { tcpSocket: { port: 1 }, periodSeconds };
  await world.ask('PUT', path, { spec: { host: '127.0.0.1', readinessProbe } });
  const [item, status] = [await world.itemOf('app', 'PROBE'), await world.itemOf('app', 'STATUS')];
  assert.ok(item && status);
  await world.set(item, { containerID: `probelet://${item.uid}/main/0`, ...probe });
  const said = status.status as { readonly containerStatuses: readonly { readonly name: string }[] };
  const containerStatuses = said.containerStatuses.map((container) => ({ ...container, started: true }));
  await world.set(status, { status: { ...said, containerStatuses } });
  const observedAtMs = startMs + observedSeconds * 1_000;
  const behind = behindSeconds === undefined ? {} : { 'default/app#main#readiness': startMs + behindSeconds * 1_000 };
  const beat = { beat: 1, beatAtMs: observedAtMs, observedAtMs, degraded, behind };
  const run = { token: 1, generation: 1, slot: 0, doneSlot: -1, ...beat };
  await world.put(encodeEpoch(bucket, { token: 1, shard: '00-ff', claimedAtMs: startMs }));
  await world.put(encodeRun('00-ff', run));
  world.advance(atSeconds * 1_000);
  type View = { readonly status: { readonly probes: readonly [Shown] } };
  return (await world.ask<View>('GET', path)).body.status.probes[0];
}

const at = (seconds: number): string => new Date(startMs + seconds * 1_000).toISOString();
const succeeded = { version: 1, result: 'success', lastResult: 'success', sinceMs: startMs + 5_000 };

describe('the result of a probe is shown', () => {
  test('as unknown since the registration before its first verdict', async () => {
    const { result, reason, since, lastProbeTime } = await shown({});
    assert.deepEqual([result, reason, since, lastProbeTime], ['unknown', 'NotYetProbed', at(0), undefined]);
  });

  test('since the verdict, whatever is probed afterwards', async () => {
    for (const atSeconds of [10, 1_000, 100_000]) {
      const { result, since } = await shown(succeeded, { atSeconds });
      assert.deepEqual([result, since], ['success', at(5)]);
    }
  });

  test('with why it cannot be made', async () => {
    const unknown = { reason: 'PolicyDenied', failureClass: 'POLICY_DENIED', message: '127.0.0.9 is denied' };
    const probe = await shown({ ...succeeded, version: 2, sinceMs: startMs + 9_000, unknown, output: 'old' });
    const { result, reason, message, failureClass, output, since } = probe;
    const fields = [result, reason, message, failureClass, output, since];
    assert.deepEqual(fields, ['unknown', 'PolicyDenied', '127.0.0.9 is denied', 'POLICY_DENIED', undefined, at(9)]);
  });

  test('as late since it became late, however long ago', async () => {
    for (const atSeconds of [301, 5_000]) {
      const { result, reason, since } = await shown(succeeded, { atSeconds, observedSeconds: 100 });
      assert.deepEqual([result, reason, since], ['unknown', 'Late', at(100 + 3 * periodSeconds)]);
    }
  });

  test('with why it cannot be made, however long it has been tried in vain, as long as it is tried', async () => {
    const unknown = { reason: 'ProberError', failureClass: 'PROBER', message: 'no secret' };
    const probe = { ...succeeded, unknown };
    const tried = { atSeconds: 5_000, behindSeconds: 20 };
    assert.equal((await shown(probe, tried)).reason, 'ProberError');
    assert.equal((await shown(probe, { ...tried, observedSeconds: 100 })).reason, 'Late');
    assert.equal((await shown(succeeded, tried)).reason, 'Late');
  });

  test('as its first verdict, not as late, before a beat says that the probe is no longer behind', async () => {
    const verdict = { ...succeeded, sinceMs: startMs + 4_998_000 };
    assert.equal((await shown(verdict, { atSeconds: 5_000, behindSeconds: 20 })).result, 'success');
  });

  test('as doubted since the prober was last sure of it', async () => {
    const { reason, since } = await shown(succeeded, { atSeconds: 200, observedSeconds: 150, degraded: true });
    assert.deepEqual([reason, since], ['ProberDegraded', at(150)]);
  });

  test('as unknown once its worker has ended', async () => {
    const { result, reason } = await shown({ version: 3, ended: true, specDigest: 'a' });
    assert.deepEqual([result, reason], ['unknown', 'Ended']);
  });

  test('as not yet probed once a probe is back whose worker had ended with its spec', async () => {
    const probe = { version: 3, ended: true, specDigest: '', sinceMs: startMs + 7_000 };
    const { result, reason, since } = await shown(probe);
    assert.deepEqual([result, reason, since], ['unknown', 'NotYetProbed', at(7)]);
  });
});

describe('the time of the last probe', () => {
  const written = { ...succeeded, lastChangeTimeMs: startMs + 5_000 };

  test('moves with the beat, by whole periods, while nothing is written', async () => {
    const ages: number[] = [];
    for (const atSeconds of [600, 660, 720]) {
      const { lastProbeTime = '', lastChangeTime } = await shown(written, { atSeconds });
      assert.equal(lastChangeTime, at(5));
      ages.push(startMs + atSeconds * 1_000 - Date.parse(lastProbeTime));
    }
    const [ageMs = -1, ...others] = ages;
    assert.ok(ageMs >= 0 && ageMs < periodSeconds * 1_000, `${ageMs} ms`);
    assert.deepEqual(others, [ageMs, ageMs]);
  });

  test('is that of the last beat of a holder that is gone', async () => {
    const { lastProbeTime = '' } = await shown(written, { atSeconds: 5_000, observedSeconds: 100 });
    assert.ok(Date.parse(lastProbeTime) <= startMs + 100_000);
  });

  test('stays that of the verdict where nothing is probed any more', async () => {
    for (const more of [{ onHold: true }, { ended: true }])
      assert.equal((await shown({ ...written, ...more }, { atSeconds: 600 })).lastProbeTime, at(5));
  });
});
