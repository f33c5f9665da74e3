/** What has to hold of one fault of one target, by what the API has shown. Each rule returns what breaks it. */
import * as restarts from '../kill/episodes.ts';
import type { Subscriber } from '../kill/heard.ts';
import { type Faults, type Life, promptMs } from '../kill/judge.ts';
import { deciding, failureSeconds, type ProbeRow, type Row, readySeconds, successSeconds } from './cases.ts';
import type { Entry, Observer, Sample, Seen } from './observer.ts';

export type Times = {
  /** Before the fault. */
  readonly fromMs: number;
  /** The fault is complete. */
  readonly beganMs: number;
  /** Its end begins. */
  readonly endingMs: number;
  /** The service answers the script well again. */
  readonly wellMs: number;
  /** After the recovery. */
  readonly doneMs: number;
};

export type Verdict = { readonly faults: Faults; readonly measured: string };

type Case = Times & Seen & Pick<Observer, 'heard' | 'starvedMs'> & { readonly row: Row };

const faultsMax = 5;

/** Judges one fault of one target. Returns at most five faults, and the measured seconds beside their limits. */
export function judge(row: Row, times: Times, observer: Observer): Verdict {
  const { samples, turns, histories, stalls } = observer.of(row.name);
  const isWithin = ({ atMs }: { readonly atMs: number }) => atMs >= times.fromMs && atMs <= times.doneMs;
  const one: Case = {
    ...times,
    row,
    samples: samples.filter(isWithin),
    turns: turns.filter(isWithin),
    histories: histories.filter(isWithin),
    stalls: stalls.filter(({ fromMs, toMs }) => toMs > times.fromMs && fromMs < times.doneMs),
    starvedMs: observer.starvedMs,
    heard: observer.heard.filter(
      ({ target, heardAtMs }) => target === row.name && heardAtMs >= times.fromMs && heardAtMs <= times.doneMs,
    ),
  };
  const rules = [readyInTime, resultsAreTrue, sameContainer, requestsAreMade, countersGrow, shownStays, historyStays];
  return { faults: rules.flatMap((rule) => rule(one)).slice(0, faultsMax), measured: measuredOf(one) };
}

/** The first sample from a moment on that looks so, in seconds after that moment. */
function secondsUntil({ samples }: Case, fromMs: number, looksSo: (sample: Sample) => boolean): number {
  const first = samples.find((sample) => sample.atMs >= fromMs && looksSo(sample));
  return first === undefined ? Number.POSITIVE_INFINITY : (first.atMs - fromMs) / 1_000;
}

const durationSeconds = ({ beganMs, endingMs }: Case): number => (endingMs - beganMs) / 1_000;
const during = ({ samples, endingMs }: Case) => samples.filter(({ atMs }) => atMs < endingMs);
const isReady = ({ ready }: Sample): boolean => ready === 'True';
const isNotReady = ({ ready }: Sample): boolean => ready === 'False';
const shown = (seconds: number): string => (Number.isFinite(seconds) ? `${seconds.toFixed(1)} s` : 'never');

const failedAfter = (one: Case, probe: ProbeRow): number =>
  secondsUntil(one, one.beganMs, (sample) => resultOf(sample, probe) === 'failure');

/** In seconds: one more period for each in which the product waited for a processor, which may void a failure. */
function failureLimit(one: Case, probe: ProbeRow): number {
  const { beganMs, endingMs, starvedMs } = one;
  const untilMs = Math.min(endingMs, beganMs + failedAfter(one, probe) * 1_000);
  const periods = starvedMs
    .filter((atMs) => atMs >= beganMs && atMs <= untilMs)
    .map((atMs) => Math.floor((atMs - beganMs) / (probe.periodSeconds * 1_000)));
  return failureSeconds(probe) + new Set(periods).size * probe.periodSeconds;
}

/** Infinite where no probe makes it not Ready. */
const notReadyLimit = (one: Case): number => Math.min(...deciding(one.row).map((probe) => failureLimit(one, probe)));

function measuredOf(one: Case): string {
  const limit = notReadyLimit(one);
  if (!Number.isFinite(limit)) return 'stays Ready';
  const normal = Math.min(...deciding(one.row).map(failureSeconds));
  const allowed = limit > normal ? `${normal} s + ${limit - normal} s` : `${normal} s`;
  const down = `not Ready after ${shown(secondsUntil(one, one.beganMs, isNotReady))} (limit ${allowed})`;
  return `${down}, Ready after ${shown(secondsUntil(one, one.wellMs, isReady))} (limit ${readySeconds(one.row)} s)`;
}

/** Not Ready in time, until the end of the fault, and Ready in time after it. */
function readyInTime(one: Case): Faults {
  const limit = notReadyLimit(one);
  if (!Number.isFinite(limit)) return one.samples.every(isReady) ? [] : ['Ready has changed'];
  const seconds = secondsUntil(one, one.beganMs, isNotReady);
  const fromMs = one.beganMs + seconds * 1_000;
  const flickers = during(one).filter((sample) => sample.atMs >= fromMs && !isNotReady(sample));
  const ready = secondsUntil(one, one.wellMs, isReady);
  const again = one.samples.filter((sample) => sample.atMs >= one.wellMs + ready * 1_000 && !isReady(sample));
  return [
    ...(seconds > limit && limit <= durationSeconds(one) ? [`not Ready after ${shown(seconds)}`] : []),
    ...flickers.slice(0, 1).map(({ ready, atMs }) => `Ready is ${ready} ${at(one, atMs)}`),
    ...(ready > readySeconds(one.row) ? [`Ready after ${shown(ready)}`] : []),
    ...again.slice(0, 1).map(({ ready, atMs }) => `Ready is ${ready} again ${at(one, atMs)}`),
  ];
}

const at = ({ beganMs }: Times, atMs: number): string => `${((atMs - beganMs) / 1_000).toFixed(1)} s into the fault`;

const resultOf = ({ probes }: Sample, { type }: ProbeRow) => probes.find(({ probeType }) => probeType === type)?.result;

/** A probe fails once, until the end of the fault, and then succeeds once. A spared probe does not change. */
function resultsAreTrue(one: Case): Faults {
  return one.row.probes.flatMap((probe) => {
    const { type } = probe;
    const turns = one.turns.filter(({ probeType }) => probeType === type).map(({ result }) => result);
    const failed = failedAfter(one, probe);
    const limit = failureLimit(one, probe);
    const mayStay = probe.isSpared || limit > durationSeconds(one);
    if (mayStay && turns.length === 0) {
      const others = one.samples.filter((sample) => resultOf(sample, probe) !== 'success');
      return others.slice(0, 1).map((other) => `${type} is shown as ${resultOf(other, probe)}`);
    }
    const lasting = during(one).filter(({ atMs }) => atMs >= one.beganMs + failed * 1_000);
    const flickers = lasting.filter((sample) => resultOf(sample, probe) !== 'failure');
    const succeeded = secondsUntil(one, one.wellMs, (sample) => resultOf(sample, probe) === 'success');
    return [
      ...(turns.join() === 'failure,success' && !probe.isSpared
        ? []
        : [`${type} has changed to ${turns.join() || 'nothing'}`]),
      ...(failed > limit && !mayStay ? [`${type}: failure after ${shown(failed)}`] : []),
      ...flickers.slice(0, 1).map((sample) => `${type} is ${resultOf(sample, probe)} ${at(one, sample.atMs)}`),
      ...(succeeded > successSeconds(probe) ? [`${type}: success after ${shown(succeeded)}`] : []),
    ];
  });
}

/** The trial restarts no container, so the status shows no restart. */
function sameContainer({ samples }: Case): Faults {
  const ids = new Set(samples.map(({ container }) => container.containerID));
  const odd = samples.find(
    ({ container: { restartCount, state, lastState } }) =>
      restartCount !== 0 || Object.keys(state).join() !== 'running' || Object.keys(lastState).length > 0,
  );
  return [
    ...(ids.size === 1 ? [] : [`${ids.size} containerIDs are shown`]),
    ...(odd === undefined ? [] : [`a restart is shown: ${JSON.stringify(odd.container)}`]),
  ];
}

/** Attempts count up at their back-off while liveness fails, and one recovery ends them. */
function requestsAreMade(one: Case): Faults {
  const { heard, turns, samples, endingMs } = one;
  const failure = turns.find(({ probeType, result }) => probeType === 'liveness' && result === 'failure');
  const requested = heard.filter((event) => event.kind === 'requested');
  const recoveries = heard.filter(({ kind }) => kind === 'recovered').length;
  if (failure === undefined) return heard.length === 0 ? [] : ['a restart is requested without a liveness failure'];
  const last = requested.at(-1);
  const lives: readonly Life[] = [{ startedMs: 0, readyMs: 0, killedMs: Number.POSITIVE_INFINITY }];
  const subscriber: Subscriber = { heard, doubted: () => false, restarted: new Map(), stop: () => Promise.resolve() };
  const ids = new Set([...heard, ...samples.map(({ container }) => container)].map(({ containerID }) => containerID));
  const nextMs = last?.kind === 'requested' ? last.timeMs + restarts.backoffMs(last.attempt) : failure.atMs;
  return [
    ...restarts.everyAttemptMade(subscriber, lives),
    ...restarts.attemptsOnTime({ families: new Map() }, subscriber, lives),
    ...restarts.repeatedByKillsOnly(subscriber, lives),
    ...restarts.recoveredOnce(subscriber),
    ...(nextMs + promptMs < endingMs ? [`no attempt follows the ${requested.length} that were made`] : []),
    ...(recoveries === 1 ? [] : [`${recoveries} recoveries are published`]),
    ...(ids.size === 1 ? [] : ['the events are of another container']),
  ];
}

const countersGrow = ({ stalls }: Case): Faults =>
  stalls
    .slice(0, 1)
    .map(({ probeType, fromMs, toMs }) => `${probeType} is not counted for ${shown((toMs - fromMs) / 1_000)}`);

/** While a result stays, so does what is shown of the probe that gave it. */
function shownStays({ row, samples }: Case): Faults {
  return row.probes.flatMap(({ type }) => {
    const probes = samples.flatMap((sample) => sample.probes.find(({ probeType }) => probeType === type) ?? []);
    const jump = probes.findIndex((probe, index) => {
      const before = probes[index - 1];
      if (before === undefined || probe.result !== before.result) return false;
      return (['since', 'failureClass', 'output'] as const).some((field) => probe[field] !== before[field]);
    });
    return jump < 0
      ? []
      : [`${type} jumps from ${JSON.stringify(probes[jump - 1])} to ${JSON.stringify(probes[jump])}`];
  });
}

const reasons = ['ProbeResultChanged', 'Unhealthy', 'RestartRequested'];

/** The history keeps the attempts behind the present result, and has no entry of a restart. */
function historyStays({ row, histories }: Case): Faults {
  if (histories.length < 2) return ['the history was not read'];
  const odd = histories.flatMap(({ entries }) => entries).find(({ reason }) => !reasons.includes(reason));
  const lost = row.probes.flatMap(({ type }) => {
    const behind = histories.map(({ entries }) => turnsOf(entries, type));
    const index = behind.findIndex((turns, at) => hasChanged(turns, behind[at - 1]?.at(-1)));
    return index < 0 ? [] : [`the attempts behind ${type} are not kept: ${JSON.stringify(behind[index]?.at(-1))}`];
  });
  return [...lost, ...(odd === undefined ? [] : [`the history has ${odd.reason}`])];
}

const turnsOf = (entries: readonly Entry[], type: string): readonly Entry[] =>
  entries.filter(({ kind, probeType }) => kind === 'transition' && probeType === type);

/**
 * True if the latest entry has no attempts, or differs from the one before although the result is the same. A result
 * that turned away and back between two looks has left an entry of that.
 */
function hasChanged(turns: readonly Entry[], before: Entry | undefined): boolean {
  const last = turns.at(-1);
  if (last === undefined || last.attempts.length === 0) return true;
  if (before === undefined || before.result !== last.result || JSON.stringify(before) === JSON.stringify(last))
    return false;
  const away = turns.at(-2);
  return away === undefined || away.result === last.result || Date.parse(away.time) <= Date.parse(before.time);
}
