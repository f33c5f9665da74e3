/** Which results and statuses may be published, whatever is shown at the next look. */
import type { Life } from './life.ts';
import type { ContainerName, ProbeType } from './steps.ts';
import type { ShownContainer } from './target-rules.ts';
import { type ProbeTruth, verdictsOf } from './truth.ts';

export type ResultEvent = {
  readonly kind: 'result';
  /** When (ms) the last of its attempts began, or it came. */
  readonly sinceMs: number;
  readonly container: ContainerName;
  readonly containerID: string;
  readonly probeType: ProbeType;
  readonly result?: 'success' | 'failure' | 'unknown';
  readonly previousResult?: string;
};

export type StatusEvent = {
  readonly kind: 'status';
  /** When (ms) it came. */
  readonly sinceMs: number;
  readonly newStatus: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly containers: readonly ShownContainer[];
  };
};

export function resultFaults(life: Life, event: ResultEvent): readonly string[] {
  const { container, containerID, probeType, result, previousResult, sinceMs } = event;
  if (result === undefined) return previousResult === undefined ? ['it changes nothing to nothing'] : [];
  const { atMs = sinceMs } = life.termination() ?? {};
  if (probeType !== 'readiness' && sinceMs > atMs) return ['its target was deleted before'];
  const truth = life.probe(container, probeType);
  const place = truth.incarnations.findLastIndex(({ id }) => id === containerID);
  // A report that does not name a container forgets it.
  if (place < 0 || result === 'unknown') return [];
  const incarnations = truth.incarnations.slice(0, place + 1);
  const isDown = result === 'failure' && incarnations.at(-1)?.downMs !== undefined;
  return isDown || isFound({ ...truth, incarnations }, result, sinceMs) ? [] : ['no probe gave that result then'];
}

const isFound = (truth: ProbeTruth, result: 'success' | 'failure', sinceMs: number): boolean =>
  verdictsOf(truth, result).some((atMs) => Math.abs(atMs - sinceMs) <= 1);

/** Of a target that terminates: what had not been seen started or ready does not become so. */
export function statusFaults(life: Life, { newStatus, sinceMs }: StatusEvent): readonly string[] {
  const termination = life.termination();
  if (!termination || sinceMs <= termination.atMs) return [];
  const { probes } = termination.shown;
  const started = newStatus.containers
    .filter(({ started }) => started)
    .filter(({ name }) =>
      probes.some((one) => one.container === name && one.probeType === 'startup' && one.result !== 'success'),
    );
  const isReady = newStatus.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  const unseen = probes.filter(({ probeType, result }) => probeType !== 'readiness' && result === 'unknown');
  return [
    ...started.map(({ name }) => `${name} had not started when its target was deleted`),
    ...(isReady ? unseen.map(({ container, probeType }) => `${probeType} of ${container} had found nothing`) : []),
  ];
}
