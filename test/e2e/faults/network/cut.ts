/** A network that is cut under 500 targets and restored, and what the prober reports meanwhile and afterwards. */

import { join } from 'node:path';
import type { TargetView } from '../../../../shared/api/schema/target-schema.ts';
import { sleep, systemClock } from '../../../../shared/lib/clock.ts';
import { atMost, exactly, type Figure, unjudged } from '../../../support/figures.ts';
import { until } from '../../../support/wait.ts';
import type { RealWorld } from '../../real-world.ts';
import type { WorldEvent } from '../../world.ts';
import { isWell, listTargets, register, untilAll } from '../listed.ts';
import { changesSince, readResults } from '../results.ts';
import type { Length } from '../step.ts';
import type { Asked } from './beyond.ts';
import { mostPerSecond, watchLost } from './herd.ts';
import { type Cut, targetAddress, webPort } from './link.ts';

export const targets = 500;
/** One in so many has a liveness probe too, and one in as many is known by its name. */
const oneIn = 10;
const periodSeconds = 10;
const probesPerSecond = (targets * (1 + 1 / oneIn)) / periodSeconds;
/** A shard keeps its phases; chance alone makes some seconds fuller than others. */
const herdMax = 2;
const settleMsMax = 180_000;
const cutMs: Readonly<Record<Length, number>> = { full: 180_000, slice: 60_000 };
const afterMs: Readonly<Record<Length, number>> = { full: 90_000, slice: 45_000 };
/** Two failed self-checks, or three successful ones, and a beat: see shared/core/self/health.ts. */
const seenWithinSeconds = 15;
/** After 40 s without a probe a result is unknown until the next probe. */
const rightWithinSeconds = seenWithinSeconds + periodSeconds;
const lookEveryMs = 3_000;

export type Link = {
  /** Of the process that answers for the targets. */
  readonly farPid: number;
  cut(): Promise<void>;
  mend(): Promise<void>;
  asked(): Promise<Asked>;
};

type Play = { readonly cut: Cut; readonly link: Link; readonly length: Length };

/** Throws when the targets do not settle before the cut. */
export async function playCut(world: RealWorld, { cut, link, length }: Play): Promise<readonly Figure[]> {
  const events: WorldEvent[] = [];
  world.subscribe((event) => events.push(event));
  const published = (type: string) => events.filter((event) => event['detail-type'] === type).length;
  for (let at = 0; at < targets; at += 1) await register(world.api, `target-${at}`, specOf(at));
  await untilAll(world.api, settleMsMax, isWell);
  await sleep(systemClock, periodSeconds * 1_000);
  // A busy machine may have made it doubt itself before: that has to be over, so that its end is not counted here.
  const isCalm = () => published('Prober Degraded') === published('Prober Recovered');
  await until('the prober trusts itself', settleMsMax, isCalm);
  await untilAll(world.api, settleMsMax, isWell);
  events.splice(0);
  await link.asked();
  const file = join(world.dataDir, 'probelet.sqlite');
  const before = readResults(file);
  const cutAtMs = Date.now();
  await link.cut();
  const during = await look(world, cutAtMs + cutMs[length], isUnknown);
  const asked = (await link.asked()).length;
  const duringCut = changesSince(before, readResults(file));
  const mendedAtMs = Date.now();
  const watcher = watchLost([world.pid(), link.farPid]);
  await link.mend();
  const afterwards = await look(world, mendedAtMs + afterMs[length], isWell);
  const lost = await watcher.stop();
  const perSecond = mostPerSecond(await link.asked(), lost);
  const lostMs = lost.reduce((sum, one) => sum + one.lostMs, 0);
  const flipped = changesSince(before, readResults(file));
  const named = (name: string) => `${cut}: ${name}`;
  return [
    unjudged(named(`targets (probes) cut off for ${cutMs[length] / 1_000} s`), `${targets} (${before.probes.length})`),
    unjudged(named('probes that went through meanwhile'), `${asked}`),
    exactly(named('Failure commits'), duringCut.failures.length, 0),
    exactly(named('results changed during the cut'), duringCut.changed.length, 0),
    atMost(named('every answer Unknown after'), during.sinceMs / 1_000, { limit: seenWithinSeconds, unit: 's' }),
    exactly(named(`answers not Unknown after that, of ${during.answers}`), during.others, 0),
    exactly(named('Prober Degraded published'), published('Prober Degraded'), 1),
    exactly(named('Prober Recovered published'), published('Prober Recovered'), 1),
    atMost(named('every answer right after the mend'), afterwards.sinceMs / 1_000, {
      limit: rightWithinSeconds,
      unit: 's',
    }),
    exactly(named(`answers not right after that, of ${afterwards.answers}`), afterwards.others, 0),
    exactly(named('flips, by the store'), flipped.changed.length + flipped.failures.length, 0),
    exactly(named('flips, by the bus'), published('Probe Result Changed') + published('Container Unhealthy'), 0),
    exactly(named('restarts requested'), published('Container Restart Requested'), 0),
    unjudged(
      named(`stood still for want of a processor, of ${afterMs[length] / 1_000} s`),
      `${(lostMs / 1_000).toFixed(1)} s`,
    ),
    atMost(named(`most probes in a second after the mend, ${probesPerSecond} due`), perSecond, {
      limit: herdMax * probesPerSecond,
    }),
  ];
}

function specOf(at: number): object {
  const probe = { httpGet: { path: '/', port: webPort }, periodSeconds };
  return {
    host: at % oneIn === 1 ? `target-${at}.test` : targetAddress(at),
    readinessProbe: { ...probe, failureThreshold: at % 2 === 0 ? 1 : 3 },
    ...(at % oneIn === 2 && { livenessProbe: { ...probe, failureThreshold: 1 } }),
  };
}

const isUnknown = ({ status }: TargetView): boolean =>
  status.probes.every(({ result, reason }) => result === 'unknown' && reason === 'ProberDegraded') &&
  status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown');

type Looked = {
  /** From the begin until every answer was as expected. */
  readonly sinceMs: number;
  /** Answers from then on, and those of them that were not. */
  readonly answers: number;
  readonly others: number;
};

const expectedWithinMs = rightWithinSeconds * 1_000;

const textOf = ({ metadata, status }: TargetView): string =>
  JSON.stringify({ at: new Date(), name: metadata.name, conditions: status.conditions, probes: status.probes });

/** Asks for all targets again and again, and shows one that is not as expected after so long. */
async function look(world: RealWorld, untilMs: number, expected: (view: TargetView) => boolean): Promise<Looked> {
  const beganMs = Date.now();
  let looked: Looked = { sinceMs: Number.POSITIVE_INFINITY, answers: 0, others: 0 };
  while (Date.now() < untilMs) {
    const views = await listTargets(world.api);
    const odd = views.filter((view) => !expected(view));
    const others = odd.length + (targets - views.length);
    if (Date.now() - beganMs > expectedWithinMs && odd[0])
      process.stdout.write(`NOT YET, ${others}: ${textOf(odd[0])}\n`);
    if (Number.isFinite(looked.sinceMs))
      looked = { ...looked, answers: looked.answers + views.length, others: looked.others + others };
    else if (others === 0) looked = { sinceMs: Date.now() - beganMs, answers: views.length, others: 0 };
    await sleep(systemClock, Math.min(lookEveryMs, Math.max(0, untilMs - Date.now())));
  }
  return looked;
}
