import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { eventBridgeBus } from '../../shared/bus/eventbridge.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { type Answer, type AnswerTo, putEventsServer, type SentEntry, taken } from './put-events-server.ts';
import { syncRequested } from './sample-event.ts';

async function world(
  context: TestContext,
  script: readonly Answer[] | AnswerTo,
  paced: (clock: Clock) => Clock = (clock) => clock,
) {
  const server = await putEventsServer(script);
  const client = new EventBridgeClient({
    endpoint: server.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  context.after(async () => {
    client.destroy();
    await server.close();
  });
  const clock = immediateClock();
  const log = recordingLog();
  const bus = eventBridgeBus({ client, busName: 'probes', clock: paced(clock), random: systemRandom, log });
  const sentIds = () => server.calls.map((call) => call.map((entry): string => JSON.parse(entry.Detail).id));
  return { bus, clock, log, calls: server.calls, sentIds };
}

const events = (count: number) => Array.from({ length: count }, (_, index) => syncRequested(index));
const refusing = (...places: readonly number[]): Answer => ({
  kind: 'entries',
  errorCodes: Object.fromEntries(places.map((place) => [place, 'InternalFailure'])),
});

const firstId = ([entry]: readonly SentEntry[]): string => (entry ? JSON.parse(entry.Detail).id : '');
/** Calls that are made at the same time arrive in any order. */
const byFirstId = (calls: readonly (readonly SentEntry[])[]) =>
  calls.toSorted((one, other) => firstId(one).localeCompare(firstId(other)));

test('ten entries a call, in order', async (context) => {
  const { bus, calls } = await world(context, [taken]);
  assert.deepEqual(await bus.publish(events(23)), { failed: [] });
  const ids = byFirstId(calls).map((call) => call.map((entry): string => JSON.parse(entry.Detail).id));
  const sent = events(23).map(({ detail }) => detail.id);
  assert.deepEqual(ids, [sent.slice(0, 10), sent.slice(10, 20), sent.slice(20)]);
});

test('an entry carries source, detail type, bus and time', async (context) => {
  const { bus, calls } = await world(context, [taken]);
  await bus.publish(events(1));
  assert.deepEqual(calls[0]?.[0], {
    EventBusName: 'probes',
    Source: 'probelet',
    DetailType: 'Target Sync Requested',
    Time: Date.UTC(2026, 0, 1) / 1000,
    Detail: JSON.stringify(syncRequested(0).detail),
  });
});

const passing: readonly Answer[] = [
  { kind: 'error', status: 500, type: 'InternalException' },
  { kind: 'error', status: 400, type: 'ThrottlingException' },
  { kind: 'cut' },
];
const incurable: Answer = { kind: 'entries', errorCodes: { 0: 'MalformedDetail', 1: 'ThrottlingException' } };

for (const [what, count, script, failed, callCount] of [
  ['nothing to publish is no call', 0, [taken], [], 0],
  ['after bounded attempts the entries never taken are named by index', 5, [refusing(2, 4), refusing(0, 1)], [2, 4], 5],
  ['an entry that no repetition cures is not sent again', 2, [incurable, taken], [0], 2],
  ['a call that fails as a whole is sent again', 2, [...passing, taken], [], 4],
] as const)
  test(what, async (context) => {
    const { bus, calls } = await world(context, script);
    assert.deepEqual(await bus.publish(events(count)), { failed });
    assert.equal(calls.length, callCount);
  });

test('entries that failed are sent again by index, alone', async (context) => {
  const { bus, clock, sentIds } = await world(context, [refusing(1, 3), refusing(0), taken]);
  assert.deepEqual(await bus.publish(events(4)), { failed: [] });
  assert.deepEqual(sentIds(), [['event-0', 'event-1', 'event-2', 'event-3'], ['event-1', 'event-3'], ['event-1']]);
  assert.equal(clock.waits.length, 2);
});

test('failed entries of several calls keep their own indices', async (context) => {
  const answers: Readonly<Record<string, Answer>> = { 'event-0': refusing(9), 'event-10': refusing(0) };
  const { bus } = await world(context, (entries) => answers[firstId(entries)] ?? refusing(0, 1));
  assert.deepEqual(await bus.publish(events(12)), { failed: [9, 10] });
});

test('a call that is not allowed fails at once and does not throw', async (context) => {
  const { bus, calls, log } = await world(context, [{ kind: 'error', status: 400, type: 'AccessDeniedException' }]);
  assert.deepEqual(await bus.publish(events(2)), { failed: [0, 1], denied: true });
  assert.equal(calls.length, 1);
  const requests = log.lines.map(({ message, fields }) => [message, fields?.request]);
  assert.deepEqual(requests, [['access denied', 'EventBridge: PutEvents']]);
  assert.deepEqual(await bus.publish(events(2)), { failed: [0, 1], denied: true });
  assert.equal(calls.length, 1, 'it is not asked for again at once');
});

test('a call stays below the size that the bus takes', async (context) => {
  const { bus, calls } = await world(context, [taken]);
  const large = events(5).map((event) => ({ ...event, detail: { ...event.detail, reason: 'x'.repeat(100_000) } }));
  assert.deepEqual(await bus.publish(large as ReturnType<typeof events>), { failed: [] });
  const sizes = byFirstId(calls).map((call) => call.length);
  assert.deepEqual(sizes, [2, 2, 1]);
});

test('nothing is sent again after six seconds', async (context) => {
  let calls: readonly unknown[] = [];
  const eachTakes = (own: Clock): Clock => ({ ...own, monotonicMs: () => own.monotonicMs() + calls.length * 3_500 });
  const slow = await world(context, [refusing(0)], eachTakes);
  calls = slow.calls;
  assert.deepEqual(await slow.bus.publish(events(1)), { failed: [0] });
  assert.equal(calls.length, 2);
});

test('makes eight calls at the same time; aborted, it gives them up and begins no other', async (context) => {
  const { bus, calls } = await world(context, [{ kind: 'silence' }]);
  const end = new AbortController();
  const publishing = bus.publish(events(95), { signal: end.signal });
  while (calls.length < 8) await new Promise(setImmediate);
  end.abort();
  assert.deepEqual(await publishing, { failed: Array.from({ length: 95 }, (_, index) => index) });
  assert.equal(calls.length, 8);
});
