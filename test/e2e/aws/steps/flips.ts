/**
 * Measures the time from a target's change to the subscriber's event: several targets go down and up at once,
 * repeatedly. The time begins with the answer that decides, so thresholds do not count.
 */
import assert from 'node:assert/strict';
import { atLeast, type Figure, quantileOf, unjudged } from '../../../support/figures.ts';
import { pause, until } from '../../../support/wait.ts';
import { type Cloud, receivedOf, register, untilReady } from '../cloud.ts';
import { type WebServer, webServer } from '../servers.ts';
import { isReadyIn } from './shop.ts';

const namespace = 'flips';
const targets = 10;
const rounds = 5;
/** Kubernetes' own. */
const failuresWanted = 3;
const receivedWithinMs = 30_000;
/** All is quiet again. */
const restMs = 1_500;

type Target = { readonly name: string; readonly server: WebServer };

type Flip = { readonly resultMs: number; readonly statusMs: number };

export async function measureFlips(cloud: Cloud): Promise<readonly Figure[]> {
  const all = await Promise.all(Array.from({ length: targets }, (_, at) => openTarget(cloud, `flip-${at}`)));
  for (const { name } of all) await untilReady(cloud, { namespace, name }, 'True', receivedWithinMs);
  const flips: Flip[] = [];
  // In the first two rounds the emulator starts as many subscribers as it will need.
  for (let round = 0; round < rounds + warmRounds; round += 1) {
    const flipped = await flipAll(cloud, all, round % 2 === 0 ? 503 : 200);
    if (round >= warmRounds) flips.push(...flipped);
    await pause(restMs);
  }
  await Promise.all(all.map(({ server }) => server.stop()));
  return [
    atLeast('flips', flips.length, { limit: targets * rounds }),
    ...figuresOf(
      'deciding answer to `Probe Result Changed` at the subscriber',
      flips.map(({ resultMs }) => resultMs),
    ),
    ...figuresOf(
      'deciding answer to `Target Status Changed` at the subscriber',
      flips.map(({ statusMs }) => statusMs),
    ),
  ];
}

const warmRounds = 2;

async function openTarget(cloud: Cloud, name: string): Promise<Target> {
  const server = await webServer();
  cloud.use(server.stop);
  const readinessProbe = { httpGet: { path: '/ready', port: server.port }, periodSeconds: 1 };
  await register(cloud, { namespace, name }, { readinessProbe });
  return { name, server };
}

function flipAll(cloud: Cloud, all: readonly Target[], status: number): Promise<readonly Flip[]> {
  const sinceMs = Date.now();
  for (const { server } of all) server.answer(status);
  return Promise.all(all.map((target) => flipOf(cloud, target, { status, sinceMs })));
}

type Turn = { readonly status: number; readonly sinceMs: number };

async function flipOf(cloud: Cloud, { name, server }: Target, { status, sinceMs }: Turn): Promise<Flip> {
  const isUp = status === 200;
  const result = await until(`the result of ${name} turns`, receivedWithinMs, () =>
    receivedOf(cloud, 'Probe Result Changed', name).find(
      ({ receivedAtMs, event }) => receivedAtMs >= sinceMs && (event.detail.result === 'success') === isUp,
    ),
  );
  const changed = await until(`the status of ${name} turns`, receivedWithinMs, () =>
    receivedOf(cloud, 'Target Status Changed', name).find(
      ({ receivedAtMs, event }) => receivedAtMs >= sinceMs && isReadyIn(event.detail.newStatus) === isUp,
    ),
  );
  const decidingMs = server.seen.filter((one) => one.status === status && one.atMs >= sinceMs)[
    isUp ? 0 : failuresWanted - 1
  ]?.atMs;
  assert.ok(decidingMs !== undefined && decidingMs <= result.receivedAtMs, `${name} turned before it was time`);
  return { resultMs: result.receivedAtMs - decidingMs, statusMs: changed.receivedAtMs - decidingMs };
}

function figuresOf(what: string, latenciesMs: readonly number[]): readonly Figure[] {
  const ascending = latenciesMs.toSorted((a, b) => a - b);
  return (
    [
      ['p50', 0.5],
      ['max', 1],
    ] as const
  ).map(([name, part]) => unjudged(`${what}, ${name}`, `${Math.round(quantileOf(ascending, part))} ms`));
}
