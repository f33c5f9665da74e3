/**
 * The faults that the simulated store has (test/sim/store.ts), done to the adapter of DynamoDB and the SDK: a claim of
 * all buckets, whose eleven transactions fail one by one; answers that are cut; more calls than sockets.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import { bucketCount } from '../../shared/core/shards/slots.ts';
import { claimBuckets } from '../../shared/holder/claim.ts';
import type { Run } from '../../shared/holder/run.ts';
import { keyAttributes } from '../../shared/store/dynamodb/request.ts';
import { bucketName, epochKey } from '../../shared/store/records/keys.ts';
import { type Operation, type Store, StoreUnavailable, type WriteOutcome } from '../../shared/store/store.ts';
import type { StoreFault } from '../sim/store.ts';
import { type CancellationCode, cancelled, throttled } from '../support/dynamodb-answers.ts';
import { type Fault, type ProxiedCall, passAll, type Script } from '../support/fault-proxy.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { shardWorld } from '../support/shard-world.ts';
import { type Bench, dynamodbForTests, random, requestTimeoutMs } from './dynamodb-bench.ts';

const shortRequestTimeoutMs = 3_000;
const delayMs = 4_000;

const { withClient, createTable, ...bench } = dynamodbForTests();

let tables = 0;

/** A store behind a proxy of its own, with a fresh table. */
async function withBench(body: (bench: Bench) => Promise<void>, timeoutMs = requestTimeoutMs): Promise<void> {
  tables += 1;
  const tableName = `storms-${tables}`;
  await createTable(tableName);
  await bench.withBench({ tableName, clock: immediateClock(), timeoutMs }, body);
}

const claimed = 'TransactWriteItems';
/** 256 buckets, 25 in a transaction. */
const bucketsPerTransaction = 25;
const transactions = Math.ceil(bucketCount / bucketsPerTransaction);
const buckets = Array.from({ length: bucketCount }, (_, index) => bucketName(index));

const partly = (code: CancellationCode, { body }: ProxiedCall): Fault => {
  const { TransactItems } = JSON.parse(body) as { readonly TransactItems: readonly unknown[] };
  // A part of the transaction's items is refused: every third.
  const codes = TransactItems.map((_, index): CancellationCode => (index % 3 === 0 ? code : 'None'));
  return { kind: 'answer', answer: cancelled(codes) };
};

type Kind = StoreFault['kind'] | 'partly throttled' | 'in doubt, applied late' | 'in doubt, never applied';

/** Each kind of fault of the simulated store, as the network and the service make it. */
const inflicted: Readonly<Record<Kind, (call: ProxiedCall) => Fault>> = {
  slow: () => ({ kind: 'delayResponse', delayMs: 200 }),
  throttled: () => ({ kind: 'answer', answer: throttled }),
  'partly throttled': (call) => partly('ThrottlingError', call),
  unreachable: () => ({ kind: 'dropRequest' }),
  answerLost: () => ({ kind: 'dropResponse' }),
  inDoubt: () => ({ kind: 'delayResponse', delayMs }),
  'in doubt, applied late': () => ({ kind: 'delayRequest', delayMs }),
  'in doubt, never applied': () => ({ kind: 'dropRequest' }),
  conflict: (call) => partly('TransactionConflict', call),
};

/** Every write from the nth transaction on, so many of them; reads too where nothing is reached. */
function from(first: number, count: number, fault: (call: ProxiedCall) => Fault): Script {
  let seen = 0;
  return (call) => {
    if (call.operation !== claimed) return { kind: 'pass' };
    seen += 1;
    return seen > first && seen <= first + count ? fault(call) : { kind: 'pass' };
  };
}

/** Beyond the pauses of a run that is throttled, which are part of it. */
const farMs = 10_000;

function runOf(store: Store, token: number): Run {
  const run = shardWorld().bareRun(token);
  return { ...run, ports: { ...run.ports, store, clock: immediateClock(farMs), random } };
}

const readAtOnce = 100;

/** What stands in the table, past the proxy. */
async function epochs(tableName: string): Promise<readonly number[]> {
  const tokens = new Map<string, number>();
  for (let at = 0; at < bucketCount; at += readAtOnce) {
    const Keys = buckets.slice(at, at + readAtOnce).map((bucket) => keyAttributes(epochKey(bucket)));
    const RequestItems = { [tableName]: { Keys, ConsistentRead: true } };
    const { Responses } = await withClient((client) => client.send(new BatchGetItemCommand({ RequestItems })));
    for (const { pk, token } of Responses?.[tableName] ?? []) tokens.set(pk?.S ?? '', Number(token?.N));
  }
  return buckets.map((bucket) => tokens.get(epochKey(bucket).pk) ?? 0);
}

/** Each transaction has claimed all of its buckets or none. */
async function assertWhole(tableName: string, token: number, isDone: boolean): Promise<void> {
  const tokens = await epochs(tableName);
  for (let at = 0; at < bucketCount; at += bucketsPerTransaction) {
    const own = tokens.slice(at, at + bucketsPerTransaction).filter((one) => one === token).length;
    const all = Math.min(bucketsPerTransaction, bucketCount - at);
    assert.ok(own === all || (!isDone && own === 0), `${own} of ${all} buckets from ${at}`);
  }
}

/** Undefined: it is not known, and the run would leave in doubt. */
const claim = (store: Store, token: number): Promise<boolean | undefined> =>
  claimBuckets(runOf(store, token), buckets).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  });

type Storm = { readonly kind: Kind; readonly first: number; readonly count: number };

const isDelay = (kind: Kind): boolean => kind === 'inDoubt' || kind === 'in doubt, applied late';

/** Once at the first, a middle and the last transaction; what costs no time also from a middle one on, for good. */
function storms(kind: Kind): readonly Storm[] {
  const middle = transactions >> 1;
  const once = [0, middle, transactions - 1].map((first) => ({ kind, first, count: 1 }));
  return isDelay(kind) ? once : [...once, { kind, first: middle, count: Number.POSITIVE_INFINITY }];
}

describe('a claim of all buckets', { concurrency: 6 }, () => {
  for (const { kind, first, count } of (Object.keys(inflicted) as readonly Kind[]).flatMap(storms))
    test(`${kind} ${count === 1 ? 'at' : 'from'} transaction ${first + 1} of ${transactions}`, () =>
      withBench(
        async ({ proxy, store, tableName }) => {
          proxy.play(from(first, count, inflicted[kind]));
          const isClaimed = await claim(store, 7);
          await proxy.idle();
          proxy.play(passAll);
          assert.notEqual(isClaimed, false, 'no other run has claimed');
          await assertWhole(tableName, 7, isClaimed === true);
          assert.equal(await claim(store, 8), true, 'the next run settles it');
          assert.equal(await claim(store, 7), false, 'and the old one takes nothing back');
          await assertWhole(tableName, 8, true);
        },
        isDelay(kind) ? shortRequestTimeoutMs : requestTimeoutMs,
      ));
});

const item = { pk: 'p', sk: 's', text: 'x'.repeat(500), count: 1 };

type Cut = { readonly name: string; readonly fault: Fault };

const edited = (edit: (body: string) => string): Fault => ({
  kind: 'edit',
  edit: (answer) => ({ ...answer, body: edit(answer.body) }),
});

const cuts: readonly Cut[] = [
  { name: 'breaks off in the middle', fault: { kind: 'cutResponse' } },
  { name: 'has lost its second half', fault: edited((body) => body.slice(0, body.length >> 1)) },
  { name: 'is an object without anything', fault: edited(() => '{}') },
];

const outcomeOf = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return 'unavailable';
    throw error;
  });

describe('an answer that', () => {
  for (const { name, fault } of cuts) {
    const onceAndAlways = [1, Number.POSITIVE_INFINITY] as const;
    for (const times of onceAndAlways) {
      const script = (call: ProxiedCall): Fault => (call.index < times ? fault : { kind: 'pass' });
      const often = times === 1 ? 'once' : 'again and again';

      test(`${name} ${often} makes no partition look empty`, () =>
        withBench(async ({ proxy, store }) => {
          await store.write([{ kind: 'put', item }], { token: random.uuid() });
          proxy.play(script);
          const answer = await outcomeOf(store.query({ pk: 'p' }));
          assert.deepEqual(answer, times === 1 ? [item] : 'unavailable');
        }));

      test(`${name} ${often} leaves an update written, with its item, and done once`, () =>
        withBench(async ({ proxy, store }) => {
          await store.write([{ kind: 'put', item }], { token: random.uuid() });
          proxy.play((call) => (call.operation === 'UpdateItem' ? script(call) : { kind: 'pass' }));
          const update: Operation = { kind: 'update', key: { pk: 'p', sk: 's' }, add: { count: 1 } };
          const outcome = await store.write([update], { token: random.uuid() });
          proxy.play(passAll);
          assert.equal((await store.get(item))?.count, 2);
          assert.deepEqual(outcome, { kind: 'written', item: { ...item, count: 2 } });
        }));

      test(`${name} ${often} leaves a transaction written and done once`, () =>
        withBench(async ({ proxy, store }) => {
          await store.write([{ kind: 'put', item }], { token: random.uuid() });
          proxy.play((call) => (call.operation === claimed ? script(call) : { kind: 'pass' }));
          const operations: readonly Operation[] = [
            { kind: 'update', key: { pk: 'p', sk: 's' }, add: { count: 1 } },
            { kind: 'put', item: { pk: 'p', sk: 't' } },
          ];
          assert.deepEqual(await store.write(operations, { token: random.uuid() }), { kind: 'written' });
          proxy.play(passAll);
          assert.equal((await store.get(item))?.count, 2);
          assert.ok(await store.get({ pk: 'p', sk: 't' }));
        }));
    }
  }
});

describe('more calls than sockets', () => {
  const callsAtOnce = 300;

  test('are answered, unavailable or in doubt, and what is said to be written is', () =>
    withBench(async ({ proxy, store }) => {
      proxy.play(() => ({ kind: 'delayResponse', delayMs: 1_200 }));
      const outcomes = await Promise.all(
        Array.from({ length: callsAtOnce }, (_, index) =>
          outcomeOf(store.write([{ kind: 'put', item: { pk: 'many', sk: `${index}` } }], { token: `t${index}` })),
        ),
      );
      await proxy.idle();
      proxy.play(passAll);
      const found = new Set((await store.query({ pk: 'many' })).map(({ sk }) => sk));
      for (const [index, outcome] of outcomes.entries()) {
        const kind = typeof outcome === 'string' ? outcome : (outcome as WriteOutcome).kind;
        assert.ok(kind === 'inDoubt' || (kind === 'written') === found.has(`${index}`), `${index}: ${kind}`);
      }
      assert.ok(outcomes.some((outcome) => (outcome as WriteOutcome).kind === 'written'));
    }, shortRequestTimeoutMs));

  test('do not keep the next call from its answer once they are over', () =>
    withBench(async ({ proxy, store }) => {
      proxy.play(() => ({ kind: 'delayResponse', delayMs: 1_200 }));
      const reads = await Promise.all(
        Array.from({ length: callsAtOnce }, () => outcomeOf(store.get({ pk: 'p', sk: 's' }))),
      );
      assert.ok(reads.every((read) => read === undefined || read === 'unavailable'));
      proxy.play(passAll);
      assert.deepEqual(await store.write([{ kind: 'put', item }], { token: random.uuid() }), { kind: 'written' });
      assert.deepEqual(await store.get(item), item);
    }, shortRequestTimeoutMs));
});
