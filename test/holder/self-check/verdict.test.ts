import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProbeReport } from '../../../shared/core/kubelet/probe-report.ts';
import type { SelfHealth } from '../../../shared/core/self/health.ts';
import type { FailureClass } from '../../../shared/core/spec/types.ts';
import type { Run } from '../../../shared/holder/run.ts';
import { selfWatch } from '../../../shared/holder/self-check/self-check.ts';
import type { Dialed, DialFailure, DialRequest } from '../../../shared/net/net.ts';
import { column, columns } from '../../support/columns.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { testsIn } from '../../support/tests-in.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const failure: ProbeReport = { conclusion: { kind: 'result', result: 'failure' }, attempts: [] };
const success: ProbeReport = { conclusion: { kind: 'result', result: 'success' }, attempts: [] };
const errorOf = (failureClass: FailureClass): ProbeReport => ({
  conclusion: { kind: 'error', error: 'e', failureClass },
  attempts: [],
});

const refused: DialFailure = { kind: 'failed', failureClass: 'CONNECT_REFUSED', message: 'refused' };
const dark: DialFailure = { kind: 'failed', failureClass: 'CONNECT_TIMEOUT', message: 'i/o timeout' };

/** A result that changes something, and that the network may have made. */
const asked = { reach: 'network', changes: true, confirms: false, turns: true } as const;

type World = {
  readonly canaries?: readonly string[];
  readonly inDoubt?: boolean;
  /** The process uses the CPU, or waits for it, all the time. */
  readonly isBusy?: boolean;
};

/** A prober with these canaries, each of which answers while it is not in `cut`; a dial takes 900 ms when it is. */
function world({ canaries = ['10.0.0.1', '10.0.0.2'], inDoubt = false, isBusy = false }: World = {}) {
  const clock = virtualClock();
  const end = new AbortController();
  const cut = new Set<string>();
  const dialed: DialRequest[] = [];
  const dial = (request: DialRequest) =>
    new Promise<Dialed | DialFailure>((resolve) => {
      dialed.push(request);
      const isCut = cut.has(request.host);
      clock.setTimer(isCut ? 900 : 1, () => resolve(isCut ? dark : refused));
    });
  const log = recordingLog();
  const cpu = isBusy && { cpuMs: () => clock.monotonicMs() };
  const ports = { clock, log, dial, canaries: canaries.map((host) => ({ host, port: 443 })), ...cpu };
  const run = {
    ports,
    message: { shard: '00' },
    signal: end.signal,
    ended: () => (end.signal.aborted ? { kind: 'slotDone' } : undefined),
  } as unknown as Run;
  const self = selfWatch(run, inDoubt, () => undefined);
  return {
    clock,
    self,
    log,
    dialed,
    end: () => end.abort(),
    cutAll: () => {
      for (const host of canaries) cut.add(host);
    },
    cutOne: (host: string) => cut.add(host),
    restore: () => cut.clear(),
    /** A probe that takes `ms`; what becomes of its report. */
    async probe(report: ProbeReport, { ms = 10, changes = true, confirms = false, reach = 'network' as const } = {}) {
      const watched = self.watch();
      await clock.advance(ms);
      const judged = await clock.runUntil(watched.judge(report, { reach, changes, confirms, turns: true }));
      watched.done();
      return judged === report ? 'counts' : judged.conclusion.kind === 'error' && judged.conclusion.error;
    },
  };
}

const inWorld = testsIn(() => world());

describe('a prober that passes its self-check', () => {
  inWorld('dials no canary for a success or for a failure that changes nothing', async ({ probe, dialed }) => {
    assert.equal(await probe(success), 'counts');
    assert.equal(await probe(failure, { changes: false }), 'counts');
    assert.equal(await probe(errorOf('POLICY_DENIED')), 'counts');
    assert.equal(dialed.length, 0);
  });

  inWorld('asks each canary before a failure counts, as its own dial', async ({ probe, dialed }) => {
    assert.equal(await probe(failure), 'counts');
    assert.deepEqual(columns(dialed, 'host', 'bypassesPolicy'), [
      ['10.0.0.1', true],
      ['10.0.0.2', true],
    ]);
  });

  inWorld('asks once for all that failed before', async ({ clock, self, dialed }) => {
    const watched = Array.from({ length: 100 }, () => self.watch());
    const judging = watched.map(({ judge }) => judge(failure, asked));
    await clock.runUntil(Promise.all(judging));
    assert.equal(dialed.length, 2);
  });

  test('asks ten times a second at most, however much fails', async () => {
    const { clock, self, dialed } = world({ canaries: ['10.0.0.1'] });
    const judging: Promise<unknown>[] = [];
    for (let at = 0; at < 100; at += 1) {
      judging.push(Promise.resolve(self.watch().judge(failure, asked)));
      await clock.advance(10);
    }
    await clock.runUntil(Promise.all(judging));
    assert.ok(dialed.length <= 12, `${dialed.length} dials`);
  });

  test('without canaries believes what it sees', async () =>
    assert.equal(await world({ canaries: [] }).probe(failure), 'counts'));

  inWorld('believes it also when one canary of two is gone', async ({ probe, cutOne }) => {
    cutOne('10.0.0.1');
    assert.equal(await probe(failure), 'counts');
  });
});

describe('a prober whose network is gone', () => {
  inWorld('lets nothing count, and says so once it is sure', async ({ probe, self, cutAll, clock }) => {
    cutAll();
    assert.equal(await probe(failure), 'the prober doubts itself');
    assert.equal(self.health().kind, 'suspect');
    assert.equal(await probe(success), 'the prober doubts itself');
    await clock.advance(2_000);
    const health = self.health();
    assert.deepEqual([health.kind, health.kind === 'doubtful' && health.reason], ['doubtful', 'NetworkUnreachable']);
  });

  inWorld('believes a success that confirms the result: failures would add up', async ({ probe, cutAll, end }) => {
    cutAll();
    assert.equal(await probe(failure, { confirms: true }), 'the prober doubts itself');
    assert.equal(await probe(success, { confirms: true }), 'counts');
    end();
    assert.equal(await probe(success, { confirms: true }), 'the run has ended');
  });

  inWorld('recovers, but not for a probe that began before', async ({ probe, self, cutAll, restore, clock }) => {
    cutAll();
    await probe(failure);
    await clock.advance(60_000);
    assert.equal(self.health().kind, 'doubtful');
    const early = self.watch();
    restore();
    await clock.advance(1_500);
    assert.equal(self.health().kind, 'doubtful');
    await clock.advance(3_000);
    assert.equal(self.health().kind, 'sound');
    const judged = early.judge(failure, asked);
    assert.notEqual(await clock.runUntil(judged), failure);
    assert.equal(await probe(failure), 'counts');
  });

  inWorld('a single failed self-check voids a probe, nothing more', async ({ probe, self, cutAll, restore, clock }) => {
    cutAll();
    assert.equal(await probe(failure), 'the prober doubts itself');
    restore();
    await clock.advance(1_500);
    assert.equal(self.health().kind, 'sound');
    assert.equal(await probe(failure), 'counts');
  });

  test('still believes targets on loopback, for which its own listener speaks', async () => {
    const { clock, self, cutOne } = world({ canaries: ['10.0.0.1', '127.0.0.1'] });
    cutOne('10.0.0.1');
    const judged = self.watch().judge(failure, { ...asked, reach: 'loopback' });
    assert.equal(await clock.runUntil(judged), failure);
    const other = self.watch().judge(failure, asked);
    assert.notEqual(await clock.runUntil(other), failure);
  });

  test('believes targets on loopback after a doubt of the network that is over, too', async () => {
    const { clock, self, probe, cutOne, restore } = world({ canaries: ['10.0.0.1', '127.0.0.1'] });
    cutOne('10.0.0.1');
    assert.notEqual(await probe(failure), 'counts');
    await clock.advance(10_000);
    restore();
    await clock.advance(10_000);
    assert.equal(self.health().kind, 'sound');
    cutOne('10.0.0.1');
    const judged = self.watch().judge(failure, { ...asked, reach: 'loopback' });
    assert.equal(await clock.runUntil(judged), failure);
  });

  inWorld('a resolver that is gone is found by the probes that need it', async ({ probe, self, cutAll }) => {
    cutAll();
    await probe(errorOf('PROBER'));
    assert.equal(self.health().kind, 'suspect');
  });
});

inWorld(
  'a prober in doubt checks itself until it recovers',
  async ({ clock, self, probe, dialed, cutAll, restore }) => {
    const timers = clock.pending();
    assert.equal(await probe(failure), 'counts');
    cutAll();
    assert.equal(await probe(failure), 'the prober doubts itself');
    await clock.advance(10_000);
    assert.equal(self.health().kind, 'doubtful');
    restore();
    await clock.advance(10_000);
    assert.equal(self.health().kind, 'sound');
    const { length } = dialed;
    await clock.advance(60_000);
    assert.deepEqual([dialed.length, clock.pending()], [length, timers]);
  },
);

inWorld('self-health is logged when it changes', async ({ clock, log, probe, cutAll, restore }) => {
  await probe(failure);
  await clock.advance(1_000);
  await probe(failure);
  assert.equal(log.lines.length, 0);
  cutAll();
  await probe(failure);
  await clock.advance(30_000);
  restore();
  await clock.advance(30_000);
  const healths = log.lines.map(({ fields }) => fields?.health as SelfHealth);
  assert.deepEqual(column(healths, 'kind'), ['suspect', 'doubtful', 'sound']);
});

inWorld('failures that are void are counted, other reports are not', async ({ probe, self, cutAll, end }) => {
  await probe(failure);
  assert.equal(self.voidFailures(), 0);
  await probe(failure, { ms: 5_000 });
  cutAll();
  await probe(failure);
  await probe(success);
  await probe(errorOf('PROBER'));
  assert.equal(self.voidFailures(), 1);
  end();
  await probe(failure);
  assert.equal(self.voidFailures(), 1, 'not for the end of the run');
});

describe('a prober that stood still', () => {
  for (const [name, changes] of [
    ['does not count what it took for a time-out', true],
    ['has not seen a target again that was down before', false],
  ] as const)
    inWorld(name, async ({ clock, self }) => {
      const watched = self.watch();
      await clock.advance(200);
      clock.stand(3_000);
      const judged = await watched.judge(failure, { ...asked, changes });
      assert.equal(judged.conclusion.kind === 'error' && judged.conclusion.error, 'the prober stood still');
      watched.done();
    });

  inWorld('counts what it was answered all the same', async ({ clock, self }) => {
    const watched = self.watch();
    clock.stand(3_000);
    assert.equal(await watched.judge(success, asked), success);
    watched.done();
  });

  inWorld('again and again is in doubt', async ({ clock, self, probe }) => {
    const watched = self.watch();
    for (let stall = 0; stall < 4; stall += 1) {
      clock.stand(500);
      await clock.advance(200);
    }
    assert.equal(await probe(failure), 'the prober doubts itself');
    assert.equal(self.health().kind, 'suspect');
    watched.done();
  });
});

describe('a prober that has more to do than it can', () => {
  const attempted = (failureClass: FailureClass): ProbeReport => ({
    ...failure,
    attempts: [{ outcome: 'failure', output: '', failureClass, timings: { totalMs: 3_000 } }],
  });
  for (const [failureClass, counts] of [
    ['CONNECT_REFUSED', true],
    ['HTTP_STATUS', true],
    ['GRPC_NOT_SERVING', true],
    ['CONNECT_TIMEOUT', false],
    ['TIMEOUT', false],
    ['CONNECT_RESET', false],
    ['HTTP_PROTOCOL', false],
    ['EXEC_EXIT', false],
    ['EXEC_TIMEOUT', false],
  ] as const) {
    const late = async (isBusy: boolean) => {
      const { self, clock } = world({ isBusy });
      const watched = self.watch();
      for (let stall = 0; stall < 4; stall += 1) {
        clock.stand(500);
        await clock.advance(200);
      }
      const report = attempted(failureClass);
      const judged = await clock.runUntil(watched.judge(report, asked));
      watched.done();
      return [judged === report, self.health().kind];
    };
    test(`${counts ? 'believes' : 'does not believe'} ${failureClass}, and never doubts itself`, async () =>
      assert.deepEqual(await late(true), [counts, 'sound']));

    test(`does not believe ${failureClass} after it stood still`, async () =>
      assert.equal((await late(false))[0], false));
  }
});

describe('the end of a run', () => {
  inWorld('is not waited for by what is being judged, and makes it void', async ({ clock, self, cutAll }) => {
    cutAll();
    const judging = self.watch().judge(failure, asked);
    await clock.advance(100);
    const stopped = self.stop();
    await clock.runUntil(stopped);
    assert.notEqual(await judging, failure);
    assert.notEqual(await self.watch().judge(failure, asked), failure);
  });

  inWorld('ends a doubt, too', async ({ clock, self, cutAll, probe }) => {
    cutAll();
    await probe(failure);
    await clock.advance(5_000);
    await clock.runUntil(self.stop());
    assert.equal(self.health().kind, 'doubtful');
  });
});

test('the doubt of the run before lasts until self-checks end it', async () => {
  const { clock, self, probe, dialed } = world({ inDoubt: true });
  assert.equal(await probe(failure), 'the prober doubts itself');
  await clock.advance(5_000);
  assert.equal(self.health().kind, 'sound');
  assert.ok(dialed.length >= 6);
});

inWorld('a wall clock that jumped makes nothing count for a moment', async ({ clock, self, probe }) => {
  self.jumped(60_000);
  await clock.advance(10);
  assert.equal(self.health().kind, 'suspect');
  assert.equal(await probe(failure), 'the prober doubts itself');
  await clock.advance(2_000);
  assert.equal(self.health().kind, 'sound');
  assert.equal(await probe(failure), 'counts');
});
