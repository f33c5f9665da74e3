/** What a process does with the look that another one asks for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { settleReceived } from '../../shared/holder/host.ts';
import type { Ports } from '../../shared/holder/run.ts';
import { sleep } from '../../shared/lib/clock.ts';
import type { LookMessage } from '../../shared/queue/queue.ts';
import { encodeShardMessage } from '../../shared/queue/shard-message.ts';
import { StoreUnavailable } from '../../shared/store/store.ts';
import { failing, healthy, heldWorld } from '../support/shard-world.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';

const [deadPort, missingName] = [81, 'unknown'];
const readinessProbe = (port: number) => ({
  containers: [{ name: 'app', readinessProbe: { tcpSocket: { port }, periodSeconds: 600 } }],
});

type Change = (ports: Ports, clock: VirtualClock) => Partial<Ports>;

/** Two targets of a run, and a look at them and a third that does not exist. */
async function lookWorld(more: Partial<LookMessage> = {}, waitedMs = 100, change: Change = () => ({})) {
  const { world, run } = await heldWorld({ well: readinessProbe(80), dead: readinessProbe(deadPort) }, 1_000);
  world.answer((_, port) => (port === deadPort ? failing : healthy));
  const { token } = await world.runRecord();
  const sample = ['well', 'dead', missingName].map(
    (name) => ({ namespace: 'default', name, container: 'app', probeType: 'readiness' }) as const,
  );
  const sentAtMs = world.clock.nowMs();
  const message: LookMessage = {
    kind: 'look',
    shard: '00',
    token,
    place: 'there',
    number: 1,
    sample,
    sentAtMs,
    ...more,
  };
  const did: string[] = [];
  const settled = await world.clock.runUntil(
    settleReceived(
      {
        clock: world.clock,
        log: world.log,
        stop: new AbortController().signal,
        portsFor() {
          const ports = world.ports();
          const secondPlace = { place: 'here', send: async () => undefined };
          return { ...ports, ...change(ports, world.clock), secondPlace };
        },
        runShard: () => assert.fail('a look runs no shard'),
      },
      {
        body: encodeShardMessage(message),
        group: 'look',
        receiveCount: 1,
        waitedMs,
        lease: { extend: async (ms) => did.push(`hidden for ${ms} ms`) > 0 },
        acknowledge: async () => did.push('acknowledged') > 0,
      },
    ),
  );
  const { look } = await world.runRecord();
  await run.stop();
  return { settled, did, look, token };
}

test('it probes the sample and says in RUN what it saw', async () => {
  const { settled, did, look, token } = await lookWorld();
  assert.deepEqual([settled, did], ['acknowledged', ['acknowledged']]);
  assert.deepEqual(look, { token, number: 1, failed: 1, succeeded: 1 });
});

test('its own is left to another process', async () => {
  const { settled, did, look } = await lookWorld({ place: 'here' });
  assert.deepEqual([settled, did, look], ['handedOver', ['hidden for 1000 ms'], undefined]);
});

test('one that is not awaited any more is dropped', async () => {
  const { settled, did, look } = await lookWorld({}, 16_000);
  assert.deepEqual([settled, did, look], ['acknowledged', ['acknowledged'], undefined]);
});

test('one of a run that is over changes nothing', async () => {
  const { settled, look } = await lookWorld({ token: 999 });
  assert.deepEqual([settled, look], ['acknowledged', undefined]);
});

test('a target that cannot be read counts as neither, and nothing is left pending', async () => {
  let open = 0;
  const slowOrFailing: Change = ({ store }) => ({
    store: {
      ...store,
      async query(query) {
        if (query.from?.includes('/well')) throw new StoreUnavailable('simulated');
        open += 1;
        return store.query(query).finally(() => {
          open -= 1;
        });
      },
    },
  });
  const { settled, look, token } = await lookWorld({}, 100, slowOrFailing);
  assert.deepEqual([settled, look, open], ['acknowledged', { token, number: 1, failed: 1, succeeded: 0 }, 0]);
});

const timedOut: Attempt = {
  outcome: 'failure',
  failureClass: 'CONNECT_TIMEOUT',
  output: '',
  timings: { totalMs: 1_000 },
};

test('a process that has lost its own network leaves the look to another one', async () => {
  const cutOff: Change = (ports) => ({
    probers: { ...ports.probers, tcp: async () => timedOut },
    canaries: [{ host: '127.0.0.1', port: 443 }],
    dial: async () => ({ kind: 'failed', failureClass: 'CONNECT_TIMEOUT', message: 'timed out' }),
  });
  const { settled, did, look } = await lookWorld({}, 100, cutOff);
  assert.deepEqual([settled, did, look], ['handedOver', ['hidden for 1000 ms'], undefined]);
});

test('so does one that stood still while it looked', async () => {
  const stopped: Change = ({ probers }, clock) => ({
    probers: {
      ...probers,
      async tcp() {
        await sleep(clock, 200);
        clock.stand(5_000);
        return timedOut;
      },
    },
  });
  const { settled, look } = await lookWorld({}, 100, stopped);
  assert.deepEqual([settled, look], ['handedOver', undefined]);
});
