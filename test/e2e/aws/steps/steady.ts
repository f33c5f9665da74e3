/**
 * What a steady fleet costs, as the store adapters count it, including beats, claims, checkpoints and the schedule.
 * Each slot has one take-over. Ten minutes are counted as they come, with one take-over, which is more than their
 * share: that of a slot that begins in between, or the one after the kill at the beginning. Of fewer minutes each
 * counts its share of a take-over, and the schedule counts from its first minute without a write, after it has weighed
 * all buckets.
 */
import { residentSlotMs } from '../../../../shared/core/shards/slots.ts';
import { atLeast, atMost, exactly, type Figure, judged } from '../../../support/figures.ts';
import { until } from '../../../support/wait.ts';
import { type Cloud, functionParts } from '../cloud.ts';
import type { LogLine } from '../emulator.ts';
import { fleetPeriodSeconds, fleetTargets } from './fleet.ts';

export const fullMinutes = 10;

const minuteMs = 60_000;
const slotMinutes = residentSlotMs / minuteMs;
/** Units per probe. */
const writesMax = 0.04;
const readsMax = 0.15;
/** A run says when it is over, and what becomes of its message. */
const otherLinesMax = 4;
/** Of the probes that are due in a minute. */
const probesMin = 0.98 * fleetTargets * (60 / fleetPeriodSeconds);
/** A slot may end in between. */
const moreMinutes = 4;

export type Mark = { readonly prober: number; readonly schedule: number; readonly received: number };

/** Where the logs and the inbox end now. */
export const markOf = ({ emulator, inbox }: Cloud): Mark => ({
  prober: emulator.log(functionParts.prober).length,
  schedule: emulator.log(functionParts.schedule).length,
  received: inbox.received.length,
});

type Options = { readonly since: Mark; readonly minutes: number };

export async function measureSteady(cloud: Cloud, { since, minutes }: Options): Promise<readonly Figure[]> {
  const { emulator, inbox } = cloud;
  const proberLines = () => emulator.log(functionParts.prober).slice(since.prober);
  const found = await until(`reports of ${minutes} min`, (minutes + moreMinutes) * minuteMs, () => {
    const schedule = emulator.log(functionParts.schedule).slice(since.schedule).filter(isReport);
    const reports = reportsIn(proberLines());
    return reports.steady.length >= minutes && weighed(schedule).length > 0 && { ...reports, schedule };
  });
  const perProbe = minutes >= fullMinutes ? asCounted : byMinute;
  const unit = (name: Units, limit: number) => {
    const measured = perProbe(found, name);
    return judged(`${name} per probe`, measured.toFixed(4), { limit: `≤ ${limit}`, holds: measured <= limit });
  };
  const all = [...found.takeOvers, ...found.steady, ...found.ends];
  const others = proberLines().filter((line) => !isReport(line) && line.message !== undefined);
  return [
    atLeast('probes a minute', probesIn(found.steady) / found.steady.length, { limit: probesMin }),
    exactly('probes without success', sum(all, 'ProbesFailed') + sum(all, 'ProbesUnknown'), 0),
    unit('WriteUnits', writesMax),
    unit('ReadUnits', readsMax),
    exactly('events', inbox.received.length - since.received, 0),
    atMost('lines in the prober’s log besides its metrics', others.length, { limit: otherLinesMax }),
  ];
}

/** Reports come once a minute of a run, the first of which has its take-over in it, and at its end. */
type Reports = {
  readonly takeOvers: readonly LogLine[];
  readonly steady: readonly LogLine[];
  readonly ends: readonly LogLine[];
};

function reportsIn(lines: readonly LogLine[]): Reports {
  const found = { takeOvers: [] as LogLine[], steady: [] as LogLine[], ends: [] as LogLine[] };
  let next: keyof Reports = 'takeOvers';
  for (const line of lines) {
    if (line.message === 'run over') next = 'ends';
    if (!isReport(line)) continue;
    found[next].push(line);
    next = next === 'ends' ? 'takeOvers' : 'steady';
  }
  return found;
}

/** What the schedule reports once the weights of all buckets are known. */
function weighed(reports: readonly LogLine[]): readonly LogLine[] {
  const steadyFrom = reports.findIndex((line) => numberIn(line, 'WriteUnits') === 0);
  return steadyFrom < 0 ? [] : reports.slice(steadyFrom);
}

type Units = 'ReadUnits' | 'WriteUnits';
type Counted = Reports & { readonly schedule: readonly LogLine[] };

function asCounted({ takeOvers, steady, ends, schedule }: Counted, name: Units): number {
  const all = [...takeOvers.slice(-1), ...steady, ...ends];
  return sum([...all, ...schedule], name) / probesIn(all);
}

function byMinute({ takeOvers, steady, schedule }: Counted, name: Units): number {
  const minute = sum(steady, name) / steady.length;
  const takeOver = Math.max(...takeOvers.map((line) => numberIn(line, name))) - minute;
  const weighedSchedule = weighed(schedule);
  const scheduled = sum(weighedSchedule, name) / weighedSchedule.length;
  return (minute + takeOver / slotMinutes + scheduled) / (probesIn(steady) / steady.length);
}

const isReport = (line: LogLine): boolean => line.Function !== undefined;

const probesIn = (lines: readonly LogLine[]): number => sum(lines, 'ProbesSuccessful');

const sum = (lines: readonly LogLine[], name: string): number =>
  lines.reduce((total, line) => total + numberIn(line, name), 0);

/** A report leaves out what it has not counted. */
const numberIn = (line: LogLine, name: string): number => Number(line[name] ?? 0);
