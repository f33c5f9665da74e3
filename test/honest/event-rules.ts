/** Which restart requests and recoveries may be published, and which have to be. */
import type { ContainerName, Lifecycle, ProbeType } from './steps.ts';
import { noticesMs, type ProbeTruth, specOf, surelyCounted, syncsMs, verdictsOf } from './truth.ts';

export type RestartEvent = {
  readonly kind: 'requested' | 'recovered';
  readonly atMs: number;
  readonly id: string;
  readonly uid: string;
  readonly container: ContainerName;
  readonly containerID: string;
  readonly probeType: ProbeType;
  /** Of a request. */
  readonly attempt: number;
};

/** The requests since the container was last well. */
export type Episode = { readonly last: RestartEvent };

const backOffFirstMs = 10_000;
const backOffMaxMs = 300_000;

/** The probe up to the event, and the containers up to the event's; undefined: no container had its ID. */
function truthAt(truth: ProbeTruth, { containerID, atMs }: RestartEvent): ProbeTruth | undefined {
  const place = truth.incarnations.findLastIndex(({ id }) => id === containerID);
  if (place < 0) return undefined;
  const asked = truth.asked.filter((one) => one.atMs <= atMs);
  return { ...truth, nowMs: atMs - syncsMs, asked, incarnations: truth.incarnations.slice(0, place + 1) };
}

/** What is wrong with an event. `open`: the episode before it, if it is not over. */
export function eventFaults(
  truthOf: (type: ProbeType) => ProbeTruth,
  event: RestartEvent,
  open: Episode | undefined,
): readonly string[] {
  const truth = truthAt(truthOf(event.probeType), event);
  if (!truth) return ['there was no container of that ID'];
  if (truth.stoppedMs !== undefined && event.atMs > truth.stoppedMs + syncsMs) return ['its target terminates'];
  const fromMs = truth.incarnations.at(-1)?.fromMs ?? 0;
  const verdicts = verdictsOf(truth, event.kind === 'requested' ? 'failure' : 'success');
  const lastMs = verdicts.findLast((atMs) => atMs >= fromMs);
  if (lastMs === undefined) return ['no probe of that container gave a reason'];
  if (event.kind === 'recovered')
    return open || hasLeft(truth, 0) ? [] : ['no restart was requested since the last recovery'];
  const isWell = surelyCounted(truth).some(({ atMs, finding }) => finding === 'success' && atMs > lastMs);
  if (isWell) return ['it has succeeded since it last failed'];
  const isBroken = open && (hasLeft(truth, open.last.atMs - noticesMs) || isCutOff(truthOf, open));
  return isBroken ? [] : attemptFaults(truth, event, open);
}

function attemptFaults(truth: ProbeTruth, event: RestartEvent, open: Episode | undefined): readonly string[] {
  const { attempt, atMs } = event;
  const isSame = open && (truth.lifecycle === 'static' || open.last.containerID === event.containerID);
  const expected = isSame ? open.last.attempt + 1 : 1;
  if (attempt !== expected) return [`it is attempt ${attempt}, not ${expected}`];
  if (!isSame) return [];
  const waitsMs = Math.min(backOffMaxMs, backOffFirstMs * 2 ** (attempt - 2));
  const waitedMs = atMs - open.last.atMs;
  return waitedMs < waitsMs - syncsMs ? [`attempt ${attempt} comes after ${waitedMs} ms, not ${waitsMs}`] : [];
}

/** Whether the probe has been out of the spec since then, which ends an episode without an event. */
const hasLeft = ({ specs }: ProbeTruth, sinceMs: number): boolean =>
  specs.some((each, place) => !each.spec && (specs[place + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) > sinceMs);

/** Whether a probe that carried the episode has left the spec: the one last named, or one that has failed since. */
const isCutOff = (truthOf: (type: ProbeType) => ProbeTruth, { last }: Episode): boolean =>
  (['liveness', 'startup'] as const).some((type) => {
    const truth = truthOf(type);
    const hasCarried = type === last.probeType || verdictsOf(truth, 'failure').some((atMs) => atMs >= last.atMs);
    return hasCarried && hasLeft(truth, last.atMs - noticesMs);
  });

type Told = { readonly lifecycle: Lifecycle; readonly open: Episode | undefined };

/** Events that are missing, given what is shown of a running container of a static target. */
export function unpublished(
  truthOf: (type: ProbeType) => ProbeTruth,
  resultOf: (type: ProbeType) => string | undefined,
  { lifecycle, open }: Told,
): readonly string[] {
  if (lifecycle === 'reported' || truthOf('liveness').stoppedMs !== undefined) return [];
  const failing = (['liveness', 'startup'] as const).find((type) => resultOf(type) === 'failure');
  if (failing && !open) return [`its ${failing} fails and no restart is requested`];
  if (!open || failing) return [];
  const { probeType } = open.last;
  const isDue = specOf(truthOf(probeType)) && !isCutOff(truthOf, open);
  return isDue && resultOf(probeType) === 'success' ? [`its ${probeType} succeeds and no recovery is told`] : [];
}
