/**
 * `npm run e2e:trial [-- SECONDS,SECONDS]`: nginx, haproxy, Redis, PostgreSQL and others fail and recover under `npm
 * start`, side by side, once for each duration. Ends with `N passed, N failed`.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { targetPath } from '../../support/api-client.ts';
import { say, tallyOf } from '../../support/tally.ts';
import { listenWith } from '../../support/tcp-server.ts';
import { until } from '../../support/wait.ts';
import { register } from '../api.ts';
import { type RealWorld, startRealWorld } from '../real-world.ts';
import { probesOf, type Row, recoverySeconds, rows } from './cases.ts';
import { judge, type Times } from './judge.ts';
import { namespace, type Observer, observe } from './observer.ts';
import { howToInstall } from './programs.ts';
import type { Fault, Service } from './services.ts';

const wait = (ms: number) => sleep(systemClock, ms);

const durationsDefault = '10,360';
const wellMsMax = 30_000;
const pollMs = 100;
const settleMsMax = 60_000;
/** Watches for so long after the last limit. */
const quietMs = 4_000;
const reportEveryMs = 60_000;
/** Healthy targets beside them: the prober holds failures back when more than three in ten targets fail at once. */
const neighbours = 60;

type Trial = { readonly row: Row; readonly service: Service; readonly fault: Fault };

const { verdict, end } = tallyOf();

const missing = howToInstall();
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}
const durations = (process.argv[2] ?? durationsDefault).split(',').map(Number);

/** The time at which it answers well. */
function untilWell({ row, service }: Pick<Trial, 'row' | 'service'>): Promise<number> {
  const describe = () => `${row.name} answers well: ${service.printed?.() ?? ''}`;
  return until(describe, { withinMs: wellMsMax, pollMs }, async () => (await service.isWell()) && Date.now());
}

async function prepare(world: RealWorld, row: Row): Promise<Trial> {
  const service = await row.service(row.name, world);
  await untilWell({ row, service });
  const fault = service.faults[row.fault];
  assert.ok(fault, row.fault);
  await register(world.api, targetPath(row.name, namespace), probesOf(row, service));
  return { row, service, fault };
}

const isReady = (observer: Observer, { name }: Row): boolean => observer.of(name).samples.at(-1)?.ready === 'True';

function settled(observer: Observer): Promise<true> {
  const open = () => rows.filter((row) => !isReady(observer, row)).map(({ name }) => name);
  const describe = () => `all are Ready, but ${open().join(', ')}`;
  return until(describe, { withinMs: settleMsMax, pollMs }, () => open().length === 0);
}

async function play(trial: Trial, ms: number): Promise<Times> {
  const fromMs = Date.now();
  await trial.fault.begin();
  const beganMs = Date.now();
  await wait(ms);
  const endingMs = Date.now();
  await trial.fault.end();
  const wellMs = await untilWell(trial);
  await wait(recoverySeconds(trial.row) * 1_000 + quietMs);
  return { fromMs, beganMs, endingMs, wellMs, doneMs: Date.now() };
}

/** Prints one line a minute, or keeps one line up to date on a terminal. */
function showProgress(observer: Observer): () => void {
  const startedMs = Date.now();
  const isTerminal = process.stderr.isTTY;
  const timer = setInterval(
    () => {
      const down = rows.filter((row) => !isReady(observer, row)).length;
      const seconds = ((Date.now() - startedMs) / 1_000).toFixed(0);
      const line = `${seconds} s: ${rows.length - down} of ${rows.length} targets are Ready`;
      process.stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    },
    isTerminal ? 1_000 : reportEveryMs,
  );
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\r\u001b[K');
  };
}

const world = await startRealWorld();
process.on('exit', () => void world.kill());
const neighbour = await listenWith(
  createServer((socket) => socket.resume()),
  '127.0.0.1',
);
const connects = { readinessProbe: { tcpSocket: { port: neighbour.port }, periodSeconds: 5 } };
for (let at = 0; at < neighbours; at += 1)
  await register(world.api, targetPath(`neighbour-${at}`, 'neighbours'), connects);
const trials = await Promise.all(rows.map((row) => prepare(world, row)));
const observer = observe(world, rows);
await settled(observer);
say(`${rows.length} targets are Ready, and beside them ${neighbours} healthy ones`);
const hideProgress = showProgress(observer);
for (const seconds of durations) {
  const times = await Promise.all(trials.map((trial) => play(trial, seconds * 1_000)));
  for (const [index, { row }] of trials.entries()) {
    const { measured, faults } = judge(row, times[index] as Times, observer);
    verdict(`${row.name}, ${seconds} s: ${measured}`, faults);
  }
}
hideProgress();
verdict(`${neighbours} healthy targets stay so`, [
  ...[...observer.disturbed].map((name) => `${name} has failed`),
  ...observer.warnings.map((warning) => `${warning} was published`),
]);
await observer.stop();
await Promise.all([...trials.map(({ service }) => service.close()), neighbour.close()]);
await world.stop();
say(
  `${observer.starvedMs.length} times the product waited for a processor, which adds to the limit what stands after the +`,
);
end();
