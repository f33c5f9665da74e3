import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { familyOf, runVectors } from './run.ts';
import type { Vector } from './runner.ts';
import { isTimeCritical, wireConcurrency } from './time-critical.ts';

const ok = { send: 'HTTP/1.1 200 OK\r\n\r\n' };

type Http = {
  readonly sleepMs: number;
  readonly timeoutMs: number;
  readonly targets?: readonly string[];
};

/** One server that sleeps before each answer, and a probe that asks it for each of the targets in turn. */
const http = ({ sleepMs, timeoutMs, targets = ['/'] }: Http): Vector => ({
  name: `http/sleep-${sleepMs}-time-out-${timeoutMs}`,
  servers: [{ kind: 'raw', routes: { '*': [{ sleepMs }, ok] } }],
  probe: { host: '127.0.0.1', timeoutMs },
  expectAnyOf: [
    { result: 'success', requests: targets.map((target) => ({ server: 0, line: `GET ${target} HTTP/1.1` })) },
  ],
});

const twoHops = http({ sleepMs: 250, timeoutMs: 600, targets: ['/a', '/b'] });
const farFromItsTimeout = http({ sleepMs: 200, timeoutMs: 1500 });

const overHttp2 = (sleepMs: number): Vector => ({ name: 'h2', probe: { timeoutMs: 1000 }, reply: [{ sleepMs }] });

const overConnections = (count: number): Vector => ({
  name: 'h2/again',
  timeoutMs: 1000,
  connections: Array.from({ length: count }, () => ({ hello: [], reply: [] })),
});

describe('at the same time run', () => {
  const cases: readonly (readonly [what: string, vector: Vector, atOnce: number])[] = [
    ['one time-critical vector', twoHops, 1],
    ['one whose server over HTTP/2 sleeps until shortly before the time-out', overHttp2(800), 1],
    ['two that sleep for less', farFromItsTimeout, 2],
    ['two whose server over HTTP/2 sleeps', overHttp2(30), 2],
    ['one with a dozen connections, each with its handshake', overConnections(12), 1],
    ['four with a few connections', overConnections(3), 4],
    ['four that do not sleep', { name: 'tcp/closed', server: 'closed', timeoutMs: 300 }, 4],
  ];
  for (const [what, vector, atOnce] of cases) test(what, () => assert.equal(wireConcurrency(vector), atOnce));
});

describe('a vector is time-critical', () => {
  const cases: readonly (readonly [what: string, vector: Vector, critical: boolean])[] = [
    ['when two hops together sleep until shortly before the time-out', twoHops, true],
    ['when its server sleeps until shortly after the time-out', http({ sleepMs: 700, timeoutMs: 600 }), true],
    ['when its gRPC server answers shortly before it', grpc({ delayMs: 900 }), true],
    ['when its gRPC server accepts shortly before it', grpc({ acceptDelayMs: 900 }), true],
    ['not when the sleep ends long before the time-out', farFromItsTimeout, false],
    ['not when it ends long after it', grpc({ delayMs: 2500 }), false],
    ['not when nothing sleeps', http({ sleepMs: 0, timeoutMs: 300 }), false],
    ['not when its server is known by its kind alone', { name: 'tcp/closed', server: 'closed', timeoutMs: 300 }, false],
  ];
  for (const [what, vector, critical] of cases) test(what, () => assert.equal(isTimeCritical(vector), critical));
});

function grpc(server: { readonly delayMs?: number; readonly acceptDelayMs?: number }): Vector {
  return { name: 'grpc/slow', server: { kind: 'grpc-health', ...server }, timeoutMs: 1000, expectAnyOf: [{}] };
}

for (const file of ['wire-http', 'wire-tcp', 'wire-grpc', 'wire-h2', 'wire-goaway'])
  test(`a time-critical vector of ${file} runs alone, the others four at a time`, async () => {
    const family = familyOf(file) ?? assert.fail(`no family for ${file}`);
    const others = Array.from({ length: 40 }, (_, at): Vector => ({ name: `other-${at}` }));
    const vectors = [twoHops, ...others.slice(0, 15), { ...twoHops }, ...others.slice(15)];
    const running = { now: 0, most: 0 };
    const run = async (vector: Vector): Promise<string | undefined> => {
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      const aloneAtFirst = running.now === 1;
      await nextTurn();
      const isAlone = aloneAtFirst && running.now === 1;
      running.now -= 1;
      return isTimeCritical(vector) && !isAlone ? 'ran beside others' : undefined;
    };
    const differences = await runVectors(vectors, { ...family, run });
    assert.deepEqual([...differences.values()], []);
    assert.equal(running.most, 4);
  });

test('differences are kept by vector, whatever the order of the runs', async () => {
  const vectors: readonly Vector[] = [twoHops, { name: 'passes' }, { name: 'fails' }];
  const run = (vector: Vector) => (vector.name === 'passes' ? undefined : `differs: ${vector.name}`);
  const differences = await runVectors(vectors, { run, concurrency: (vector) => (vector === twoHops ? 1 : 2) });
  assert.deepEqual(
    vectors.map((vector) => differences.get(vector)),
    [`differs: ${twoHops.name}`, undefined, 'differs: fails'],
  );
});
