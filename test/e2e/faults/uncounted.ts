/**
 * How many failures of a fleet do not count, or not yet, because the prober may have caused them: void after a
 * self-check or a stall of the prober, or held back by the surge limit. First some targets fail and recover all the
 * time, then all fail at once. On a quiet machine next to none should be void.
 */
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { answerOf, forkBeside } from '../../support/children.ts';
import { atLeast, atMost, exactly, type Figure, unjudged } from '../../support/figures.ts';
import { familyOf, probeTotals, samplesOf } from '../../support/scraped.ts';
import { type RealWorld, startRealWorld } from '../real-world.ts';
import type { Answered, Told } from './answering.ts';
import { isWell, listTargets, register, untilAll } from './listed.ts';
import type { Length, Step } from './step.ts';

const targets = 400;
const failureThreshold = 2;
const seconds: Readonly<Record<Length, number>> = { full: 300, slice: 60 };
const settleMs = 180_000;
/** Each second another target fails, for so long: in a minute far fewer than three in ten turn, which is no surge. */
const brokenMs = 5_000;
/** Each tenth target is slow. All of these time out for a while, several times. */
const slowEach = 10;
const hungMs = 4_000;
const betweenHangsMs = 20_000;
/** The ramp of the surge limit, the threshold, and a period for the probe that asks again. */
const turnedMsMax = 20_000 + (failureThreshold + 1) * 1_000 + 5_000;

export const uncountedStep: Step = {
  name: 'uncounted',
  alone: true,
  title: `Failures of ${targets} targets that do not count`,
  async run(length) {
    const servers = forkBeside('answering.ts', import.meta.url);
    const world = await startRealWorld();
    try {
      const { port } = (await answerOf(servers)) as Answered;
      const tell = async (told: Told) => (await answerOf(servers, told)) as Answered;
      await registerAll(world, port);
      return [...(await failInTurn(world, tell, seconds[length])), ...(await failAtOnce(world, tell))];
    } finally {
      await world.stop();
      servers.kill('SIGKILL');
    }
  },
};

type Tell = (told: Told) => Promise<Answered>;

const isSlow = (at: number): boolean => at % slowEach === 0;
const pathOf = (at: number): string => `/${isSlow(at) ? 'slow' : 'fast'}/${at}`;

async function registerAll({ api }: RealWorld, port: number): Promise<void> {
  for (let at = 0; at < targets; at += 1) {
    const readinessProbe = { httpGet: { path: pathOf(at), port }, periodSeconds: 1, failureThreshold };
    await register(api, `target-${at}`, { host: '127.0.0.1', readinessProbe });
  }
  await untilAll(api, settleMs, isWell);
}

async function failInTurn(world: RealWorld, tell: Tell, forSeconds: number): Promise<readonly Figure[]> {
  const before = await counted(world);
  const fast = Array.from({ length: targets }, (_, at) => at).filter((at) => !isSlow(at));
  for (let second = 0; second < forSeconds; second += 1) {
    const path = (at: number) => pathOf(fast[at % fast.length] ?? 1);
    const hangs = (second * 1_000) % betweenHangsMs;
    await tell({
      break: [path(second)],
      mend: second * 1_000 >= brokenMs ? [path(second - brokenMs / 1_000)] : [],
      ...(hangs === 0 && { slow: 'hold' }),
      ...(hangs === hungMs && { slow: 'release' }),
    });
    await sleep(systemClock, 1_000);
  }
  await tell({ mend: fast.map(pathOf), slow: 'release' });
  await untilAll(world.api, settleMs, isWell);
  const after = await counted(world);
  const failed = after.failed - before.failed;
  return [
    unjudged('probes', `${after.probes - before.probes}`),
    atLeast('failures that counted while targets failed in turn', failed, { limit: forSeconds }),
    unjudged('failures that were void', `${after.void - before.void} of ${failed + after.void - before.void}`),
    exactly('failures that were held back', after.heldBack - before.heldBack, 0),
  ];
}

async function failAtOnce(world: RealWorld, tell: Tell): Promise<readonly Figure[]> {
  const before = await counted(world);
  const startedMs = performance.now();
  await tell({ break: Array.from({ length: targets }, (_, at) => pathOf(at)) });
  let turned = 0;
  while (turned < targets && performance.now() - startedMs < 2 * turnedMsMax) {
    await sleep(systemClock, 1_000);
    turned = (await listTargets(world.api)).filter((view) => !isWell(view)).length;
  }
  const turnedMs = turned === targets ? performance.now() - startedMs : Number.POSITIVE_INFINITY;
  const after = await counted(world);
  return [
    exactly('targets that turned when all failed at once', turned, targets),
    atMost('until the last had turned', turnedMs / 1_000, { limit: turnedMsMax / 1_000, unit: 's' }),
    unjudged('failures that were void meanwhile', `${after.void - before.void}`),
    atLeast('failures that were held back meanwhile', after.heldBack - before.heldBack, { limit: 1 }),
  ];
}

/** By the product's own metrics. */
async function counted(world: RealWorld) {
  const text = await (await fetch(`${world.baseUrl()}/metrics`)).text();
  const samples = samplesOf(text);
  const sumOf = (family: string) => familyOf(samples, family).reduce((sum, { value }) => sum + value, 0);
  const totals = probeTotals(text);
  const made = (result?: string) =>
    totals.reduce((sum, { labels, value }) => sum + (result === undefined || labels.result === result ? value : 0), 0);
  return {
    probes: made(),
    failed: made('failed'),
    void: sumOf('probelet_void_failures_total'),
    heldBack: sumOf('probelet_held_back_failures_total'),
  };
}
