/**
 * Courses of writes with one fault at each call in turn: nothing is lost, nothing doubled, and the outcomes are right.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { systemClock } from '../../shared/lib/clock.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import {
  type Item,
  type Operation,
  type Store,
  StoreThrottled,
  StoreUnavailable,
  type WriteOutcome,
} from '../../shared/store/store.ts';
import { type Step, writeScenarios } from '../contract/store-scenarios.ts';
import {
  accessDenied,
  badGateway,
  type CancellationCode,
  cancelled,
  internalServerError,
  requestLimitExceeded,
  serviceUnavailable,
  throttled,
  throughputExceeded,
  tooManyRequests,
  transactionConflict,
  transactionInProgress,
  validationError,
} from '../support/dynamodb-answers.ts';
import {
  type Answer,
  type Fault,
  faultAt,
  type ProxiedCall,
  passAll,
  type Script,
  startFaultProxy,
} from '../support/fault-proxy.ts';
import { type Bench as BenchOfTable, dynamodbForTests, random, requestTimeoutMs } from './dynamodb-bench.ts';

const tableName = 'faults';
const shortRequestTimeoutMs = 1500;
const delayMs = 2000;

const { local, withClient, createTable, ...bench } = dynamodbForTests(() => createTable(tableName));

type Bench = BenchOfTable & { readonly pk: string };

let partitions = 0;

/** A store behind a proxy of its own, with a fresh partition. */
function withBench<Answered>(timeoutMs: number, body: (bench: Bench) => Promise<Answered>): Promise<Answered> {
  partitions += 1;
  const pk = `P#${partitions}`;
  return bench.withBench({ tableName, clock: systemClock, timeoutMs }, (made) => body({ ...made, pk }));
}

/** How a step ended, and what was thrown or refused for the moment before it did. */
type StepReport = { readonly outcome: WriteOutcome; readonly setbacks: readonly string[] };

const triesMax = 3;

/** As a caller does: what is unavailable, in conflict or in doubt is tried again with the same token. */
async function takeStep(store: Store, step: Step): Promise<StepReport> {
  const setbacks: string[] = [];
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const outcome = await store.write(step.operations, { token: step.token }).catch((error: Error) => error);
    const setback = setbackOf(step, outcome);
    if (!setback && !(outcome instanceof Error)) return { outcome, setbacks };
    setbacks.push(setback ?? '');
  }
  throw new Error(`gave up after ${setbacks.join(', ')}`);
}

/** A repeated transaction is exact, so its doubt can be cleared. */
function setbackOf(step: Step, outcome: WriteOutcome | Error): string | undefined {
  if (outcome instanceof Error) return outcome.name;
  if (outcome.kind === 'inDoubt') return isSingle(step) ? undefined : 'inDoubt';
  return outcome.kind === 'refused'
    ? outcome.refusals.map(({ kind }) => kind).find((kind) => kind === 'conflict')
    : undefined;
}

type Course = {
  readonly reports: readonly StepReport[];
  readonly items: readonly object[];
  readonly calls: readonly ProxiedCall[];
};

/** What a delayed request does late is part of the step that sent it. */
async function runCourse({ proxy, store, pk }: Bench, steps: readonly Step[], script: Script): Promise<Course> {
  const reports: StepReport[] = [];
  proxy.play(script);
  for (const step of steps) {
    reports.push(await takeStep(store, step));
    await proxy.idle();
  }
  const calls = [...proxy.calls()];
  proxy.play(passAll);
  return { reports, items: (await store.query({ pk })).map(withoutPk), calls };
}

const withoutPk = ({ pk: _pk, ...rest }: Item): object => rest;

const plainOutcome = (outcome: WriteOutcome): unknown => {
  switch (outcome.kind) {
    case 'written':
      return { ...outcome, ...(outcome.item && { item: withoutPk(outcome.item) }) };
    case 'refused':
      return outcome.refusals.map((one) => ('item' in one && one.item ? { ...one, item: withoutPk(one.item) } : one));
    case 'inDoubt':
      return outcome.kind;
  }
};

const isSingle = ({ operations }: Step): boolean =>
  operations.length === 1 && ['put', 'update'].includes(operations[0]?.kind ?? '');

/**
 * Same items, same outcomes. One exception, by the port's contract: a single put or update that is refused by another
 * writer's item cannot know, once an answer was lost, whether its own write came before that: it may say `inDoubt`.
 */
function assertSameCourse(actual: Course, undisturbed: Course, steps: readonly Step[]): void {
  assert.deepEqual(actual.items, undisturbed.items);
  for (const [index, step] of steps.entries()) {
    const [got, expected] = [actual.reports[index]?.outcome, undisturbed.reports[index]?.outcome];
    assert.ok(got && expected);
    if (got.kind === 'inDoubt' && expected.kind === 'refused' && isSingle(step)) continue;
    assert.deepEqual(plainOutcome(got), plainOutcome(expected), `step ${index}`);
  }
}

const answer = (given: Answer, applied = false): Fault => ({ kind: 'answer', answer: given, applied });

const isTransaction = (call: ProxiedCall): boolean => call.operation === 'TransactWriteItems';

const operationCount = (call: ProxiedCall): number =>
  (JSON.parse(call.body) as { TransactItems: readonly unknown[] }).TransactItems.length;

/** Cancelled for this reason at its last operation. */
const cancelledFor = (code: CancellationCode, call: ProxiedCall): Fault =>
  answer(cancelled([...Array.from({ length: operationCount(call) - 1 }, () => 'None' as const), code]));

type NamedFault = {
  readonly name: string;
  /** undefined: such a call cannot suffer it. */
  readonly of: (call: ProxiedCall) => Fault | undefined;
  /** What the caller notices; by default nothing. */
  readonly setback?: string;
};

const always = (fault: Fault) => () => fault;
const ofTransactions = (fault: (call: ProxiedCall) => Fault) => (call: ProxiedCall) =>
  isTransaction(call) ? fault(call) : undefined;

const cancelledBy = (what: string, code: CancellationCode, setback?: string): NamedFault => ({
  name: `a transaction cancelled by ${what}`,
  of: ofTransactions((call) => cancelledFor(code, call)),
  ...(setback && { setback }),
});

const lostAnswers: readonly NamedFault[] = [
  { name: 'the response is dropped after it was applied', of: always({ kind: 'dropResponse' }) },
  { name: 'the request is dropped', of: always({ kind: 'dropRequest' }) },
  { name: '500 after it was applied', of: always(answer(internalServerError, true)) },
  { name: '500 before it was applied', of: always(answer(internalServerError)) },
  { name: '503 after it was applied', of: always(answer(serviceUnavailable, true)) },
  { name: '503 before it was applied', of: always(answer(serviceUnavailable)) },
  { name: 'a gateway’s 502 page after it was applied', of: always(answer(badGateway, true)) },
  { name: 'a gateway’s 502 page before it was applied', of: always(answer(badGateway)) },
  { name: 'TransactionInProgress', of: ofTransactions(() => answer(transactionInProgress)) },
];

const setBack: readonly NamedFault[] = [
  { name: '429', of: always(answer(tooManyRequests)), setback: 'StoreThrottled' },
  { name: 'ThrottlingException', of: always(answer(throttled)), setback: 'StoreThrottled' },
  { name: 'ProvisionedThroughputExceededException', of: always(answer(throughputExceeded)), setback: 'StoreThrottled' },
  { name: 'RequestLimitExceeded', of: always(answer(requestLimitExceeded)), setback: 'StoreThrottled' },
  cancelledBy('throttling', 'ThrottlingError', 'StoreThrottled'),
  cancelledBy('exceeded throughput', 'ProvisionedThroughputExceeded', 'StoreThrottled'),
  { name: 'access denied', of: always(answer(accessDenied)), setback: 'StoreDenied' },
  { name: 'ValidationException', of: always(answer(validationError)), setback: 'ValidationException' },
  cancelledBy('an item collection’s size', 'ItemCollectionSizeLimitExceeded', 'StoreUnavailable'),
  cancelledBy('a validation error', 'ValidationError', 'TransactionCanceledException'),
  {
    name: 'TransactionConflict',
    of: (call) => (isTransaction(call) ? cancelledFor('TransactionConflict', call) : answer(transactionConflict)),
    setback: 'conflict',
  },
];

const delays: readonly NamedFault[] = [
  { name: 'a request that arrives after the time-out', of: always({ kind: 'delayRequest', delayMs }) },
  { name: 'an answer that comes after the time-out', of: always({ kind: 'delayResponse', delayMs }) },
];

for (const scenario of writeScenarios)
  describe(scenario.name, { concurrency: 4 }, () => {
    let undisturbed: Course;
    before(async () => {
      undisturbed = await withBench(requestTimeoutMs, (bench) => runCourse(bench, scenario.steps(bench.pk), passAll));
    });

    const courseUnder = (script: Script, timeoutMs = requestTimeoutMs): Promise<Course> =>
      withBench(timeoutMs, async (bench) => {
        const steps = scenario.steps(bench.pk);
        const course = await runCourse(bench, steps, script);
        assertSameCourse(course, undisturbed, steps);
        return course;
      });

    for (const fault of delays)
      test(`${fault.name}, at each call`, async () => {
        const courses = undisturbed.calls.map((call) => {
          const inflicted = fault.of(call);
          assert.ok(inflicted);
          return courseUnder(faultAt(call.index, inflicted), shortRequestTimeoutMs);
        });
        await Promise.all(courses);
      });

    for (const fault of [...lostAnswers, ...setBack])
      test(`${fault.name}, at each call`, async () => {
        const courses = undisturbed.calls.map(async (call) => {
          const inflicted = fault.of(call);
          if (!inflicted) return;
          const { reports, calls } = await courseUnder(faultAt(call.index, inflicted));
          const setbacks = reports.flatMap((report) => report.setbacks);
          assert.deepEqual(setbacks, fault.setback ? [fault.setback] : [], `call ${call.index}`);
          assert.equal(calls.length, undisturbed.calls.length + 1, 'one call more');
        });
        await Promise.all(courses);
      });

    test('a lost answer and then each other fault, at each call', async () => {
      for (const call of undisturbed.calls) {
        const courses = [...lostAnswers, ...setBack].map(async (fault) => {
          const second = fault.of(call);
          if (!second || fault.setback?.includes('Exception')) return;
          const script: Script = ({ index }) =>
            index === call.index ? { kind: 'dropResponse' } : index === call.index + 1 ? second : { kind: 'pass' };
          await courseUnder(script);
        });
        await Promise.all(courses);
      }
    });
  });

/** A fault at every write, reads pass. */
const everyWrite =
  (fault: Fault): Script =>
  (call) =>
    call.operation === 'GetItem' || call.operation === 'Query' ? { kind: 'pass' } : fault;

describe('a fault that stays', () => {
  const kinds: { readonly [name: string]: (pk: string) => readonly Operation[] } = {
    'a single put': (pk) => [{ kind: 'put', item: { pk, sk: 'a', x: 1 }, if: [{ kind: 'notExists' }] }],
    'a single update': (pk) => [{ kind: 'update', key: { pk, sk: 'a' }, add: { x: 1 } }],
    'a transaction': (pk) => [
      { kind: 'check', key: { pk, sk: 'b' }, if: [{ kind: 'notExists' }] },
      { kind: 'update', key: { pk, sk: 'a' }, add: { x: 1 } },
    ],
  };
  const sendsMax = 4;

  for (const [name, operationsOf] of Object.entries(kinds)) {
    test(`${name} whose every answer is lost is found by reading back`, () =>
      withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
        proxy.play(everyWrite({ kind: 'dropResponse' }));
        const outcome = await store.write(operationsOf(pk), { token: 't' });
        const item = { pk, sk: 'a', x: 1 };
        assert.deepEqual(outcome, { kind: 'written', ...(name === 'a single update' && { item }) });
        assert.equal(proxy.calls().length, sendsMax + 1);
        assert.deepEqual(await store.get({ pk, sk: 'a' }), item);
      }));

    test(`${name} whose every request is lost is in doubt`, () =>
      withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
        proxy.play(everyWrite({ kind: 'dropRequest' }));
        assert.deepEqual(await store.write(operationsOf(pk), { token: 't' }), { kind: 'inDoubt' });
        assert.equal(proxy.calls().length, sendsMax + 1);
      }));

    test(`${name} is in doubt when reading back fails too`, () =>
      withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
        proxy.play(() => ({ kind: 'dropResponse' }));
        assert.deepEqual(await store.write(operationsOf(pk), { token: 't' }), { kind: 'inDoubt' });
      }));

    test(`${name} that is throttled is not sent again, and nothing was applied`, () =>
      withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
        proxy.play(everyWrite(answer(throttled)));
        await assert.rejects(store.write(operationsOf(pk), { token: 't' }), StoreThrottled);
        assert.equal(proxy.calls().length, 1);
        assert.deepEqual(await store.query({ pk }), []);
      }));
  }

  test('a single write is in doubt when another run wrote the item after its answer was lost', () =>
    withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
      const key = { pk, sk: 'a' };
      const update = (from: number): readonly Operation[] => [
        { kind: 'update', key, set: { v: from + 1 }, if: [{ kind: 'equals', attribute: 'v', value: from }] },
      ];
      await store.write([{ kind: 'put', item: { ...key, v: 1 } }], { token: 'a' });
      let otherOutcome: Promise<WriteOutcome> | undefined;
      proxy.play((call) => {
        if (call.index === 0) return { kind: 'dropResponse' };
        if (call.index > 1) return { kind: 'pass' };
        otherOutcome = store.write(update(2), { token: 'other' });
        return { kind: 'delayRequest', delayMs: 500 };
      });
      assert.deepEqual(await store.write(update(1), { token: 'mine' }), { kind: 'inDoubt' });
      assert.equal((await otherOutcome)?.kind, 'written');
      assert.deepEqual(await store.get({ pk, sk: 'a' }), { pk, sk: 'a', v: 3 });
    }));

  test('a server that is not there is unavailable, for reads and writes', async () => {
    const { close, endpoint } = await startFaultProxy(local());
    await close();
    const key = { pk: 'p', sk: 's' };
    await withClient(
      async (client) => {
        const store = dynamodbStore({ client, tableName, clock: systemClock, random });
        await assert.rejects(store.write([{ kind: 'put', item: key }], { token: 'a' }), StoreUnavailable);
        await assert.rejects(store.get(key), StoreUnavailable);
        await assert.rejects(store.query({ pk: 'p' }), StoreUnavailable);
      },
      { endpoint },
    );
  });
});

describe('the reasons of a cancelled transaction', () => {
  const operationsOf = (pk: string): readonly Operation[] => [
    { kind: 'put', item: { pk, sk: 'a' } },
    { kind: 'put', item: { pk, sk: 'b' } },
  ];
  const outcomeUnder = (codes: readonly CancellationCode[]) =>
    withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
      proxy.play(() => answer(cancelled(codes)));
      return store.write(operationsOf(pk), { token: 't' });
    });

  test('a condition and a conflict are named by the index of their operation', async () => {
    const outcome = await outcomeUnder(['ConditionalCheckFailed', 'TransactionConflict']);
    const told = outcome.kind === 'refused' ? outcome.refusals.map(({ index, kind }) => `${index} ${kind}`) : [];
    assert.deepEqual(told, ['0 condition', '1 conflict']);
  });

  test('a condition outweighs throttling', async () => {
    const outcome = await outcomeUnder(['ThrottlingError', 'ConditionalCheckFailed']);
    assert.deepEqual(outcome, { kind: 'refused', refusals: [{ index: 1, kind: 'condition' }] });
  });

  test('a validation error outweighs all: a bug', async () => {
    const error = { name: 'TransactionCanceledException' };
    await assert.rejects(outcomeUnder(['ConditionalCheckFailed', 'ValidationError']), error);
  });

  test('a code that is not known yet is unavailable', () =>
    assert.rejects(outcomeUnder(['None', 'SomethingNew' as CancellationCode]), StoreUnavailable));
});

describe('reads', () => {
  const readFaults: { readonly [name: string]: Fault } = {
    'a dropped response': { kind: 'dropResponse' },
    'a 500': answer(internalServerError),
  };
  test('that are throttled are not sent again', () =>
    withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
      proxy.play(() => answer(throughputExceeded));
      await assert.rejects(store.get({ pk, sk: 'a' }), StoreThrottled);
      assert.equal(proxy.calls().length, 1);
      await assert.rejects(store.query({ pk }), StoreThrottled);
      assert.equal(proxy.calls().length, 2);
    }));

  for (const [name, fault] of Object.entries(readFaults)) {
    test(`are tried again after ${name}`, () =>
      withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
        await store.write([{ kind: 'put', item: { pk, sk: 'a' } }], { token: 't' });
        proxy.play(faultAt(0, fault));
        assert.deepEqual(await store.get({ pk, sk: 'a' }), { pk, sk: 'a' });
        proxy.play(faultAt(0, fault));
        assert.deepEqual(await store.query({ pk }), [{ pk, sk: 'a' }]);
      }));

    test(`are unavailable when ${name} comes again`, () =>
      withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
        proxy.play(() => fault);
        await assert.rejects(store.get({ pk, sk: 'a' }), StoreUnavailable);
        await assert.rejects(store.query({ pk }), StoreUnavailable);
      }));
  }

  test('a page of a query that fails is read again, none twice', () =>
    withBench(requestTimeoutMs, async ({ proxy, store, pk }) => {
      const blob = 'x'.repeat(300_000);
      const sortKeys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      for (const sk of sortKeys) await store.write([{ kind: 'put', item: { pk, sk, blob } }], { token: `${pk}${sk}` });
      proxy.play(faultAt(1, { kind: 'dropResponse' }));
      const items = await store.query({ pk });
      const read = items.map((item) => item.sk);
      assert.deepEqual(read, sortKeys);
      assert.ok(proxy.calls().length > 2);
    }));
});
