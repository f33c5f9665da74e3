/** Targets that hang and names that do not resolve, beside healthy targets, in processes with few descriptors. */

import { atMost, exactly, type Figure, quantileOf, unjudged } from '../../support/figures.ts';
import { type Measured, type Measuring, measureHanging } from './hanging-world.ts';
import type { Length, Step } from './step.ts';

const measuredMs: Readonly<Record<Length, number>> = { full: 60_000, slice: 30_000 };
const lateMsMax = 500;
const deadNameMsMax = 200;

/** More than the socket budget has place for, during three of every four seconds. */
const hanging = { healthy: 100, hanging: 1_500, dead: 4, periodSeconds: 4, timeoutSeconds: 3, settleMs: 20_000 };

/** Only dead names delay the healthy targets, so that their effect shows. */
const deadNames = {
  healthy: 100,
  named: 100,
  hanging: 0,
  dead: 4,
  periodSeconds: 1,
  timeoutSeconds: 1,
  settleMs: 5_000,
};

/** A prober without dead names that is late by more, or a process that stood still, shows that the machine is busy. */
const busyMs = deadNameMsMax;
const measurementsMax = 4;

export const hangingStep: Step = {
  name: 'hanging',
  alone: true,
  title: '1,500 hanging targets at 1,024 descriptors, and four dead names',
  async run(length) {
    const { calmest, count } = await measureCalmly({ measuredMs: measuredMs[length] });
    return [
      unjudged('measurements, of which the one on the calmest machine is judged', `${count}`),
      unjudged('longest standstill of a process, or lateness without dead names', `${calmest.busyMs} ms`),
      ...crowdFigures(calmest.crowd),
      ...nameFigures(calmest.names, calmest.without),
    ];
  },
};

/** On a busy machine all is measured again: what it delays says nothing of the prober. */
async function measureCalmly(options: Pick<Measuring, 'measuredMs'>) {
  let calmest = await measureAll(options);
  let count = 1;
  for (; calmest.busyMs > busyMs && count < measurementsMax; count += 1) {
    const next = await measureAll(options);
    if (next.busyMs < calmest.busyMs) calmest = next;
  }
  return { calmest, count };
}

async function measureAll(options: Pick<Measuring, 'measuredMs'>) {
  const [crowd, names, without] = await Promise.all([
    measureHanging({ ...hanging, ...options }),
    measureHanging({ ...deadNames, ...options }),
    measureHanging({ ...deadNames, dead: 0, ...options }),
  ]);
  const stoodStillMs = [crowd, names, without].map((measured) => measured.stoodStillMs);
  return { crowd, names, without, busyMs: Math.max(maxOf(without), ...stoodStillMs) };
}

function crowdFigures(measured: Measured): readonly Figure[] {
  const { latenessesMs } = measured;
  const what = `healthy targets beside ${hanging.hanging} that hang and ${hanging.dead} dead names`;
  return [
    unjudged(what, `${hanging.healthy}, ${latenessesMs.length} probes`),
    atMost('lateness p99', p99Of(measured), { limit: lateMsMax, unit: 'ms' }),
    unjudged('lateness p50, p99, max', delays(measured)),
    ...soundness('hanging', measured, hanging),
  ];
}

/** The measurement without dead names at the same time shows the delay of a busy machine. */
function nameFigures(measured: Measured, without: Measured): readonly Figure[] {
  const { latenessesMs } = measured;
  const what = `healthy targets beside ${deadNames.dead} dead names, half of them known by name`;
  return [
    unjudged(what, `${deadNames.healthy + deadNames.named}, ${latenessesMs.length} probes`),
    atMost('delay p99 beside dead names', p99Of(measured), { limit: deadNameMsMax, unit: 'ms' }),
    unjudged('delay p50, p99, max beside dead names', delays(measured)),
    unjudged('delay p50, p99, max without dead names', delays(without)),
    atMost('max, beyond that without dead names', maxOf(measured) - maxOf(without), {
      limit: deadNameMsMax,
      unit: 'ms',
    }),
    ...soundness('dead names', measured, deadNames),
  ];
}

const p99Of = ({ latenessesMs }: Measured): number => quantileOf(latenessesMs, 0.99);

const maxOf = ({ latenessesMs }: Measured): number => latenessesMs.at(-1) ?? Number.POSITIVE_INFINITY;

const delays = (measured: Measured): string =>
  `${quantileOf(measured.latenessesMs, 0.5)} ms, ${p99Of(measured)} ms, ${maxOf(measured)} ms`;

/** A prober that crashed has reported nothing, and the step has failed before. */
function soundness(
  name: string,
  { missed, ended }: Measured,
  orders: Omit<Measuring, 'measuredMs'>,
): readonly Figure[] {
  const probes = orders.healthy + (orders.named ?? 0) + orders.hanging + orders.dead;
  return [
    exactly(`${name}: probes missed`, missed, 0),
    exactly(`${name}: probes held in the end`, ended.probes, probes),
    exactly(`${name}: errors and doubts of the prober`, ended.errors.length + (ended.doubt ? 1 : 0), 0),
  ];
}
