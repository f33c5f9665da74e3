/**
 * What is expected of the product after each op of a termination vector: what was recorded of kubelet, changed by the
 * numbered differences of docs/semantics.md that apply, and by nothing else.
 */
import { containerShouldRestart } from '../../shared/core/kubelet/restart-policy.ts';
import { specProbes } from '../../shared/core/spec/spec.ts';
import type { ContainerState, ContainerStatus } from '../../shared/core/spec/types.ts';
import { computedConditions } from './status-conditions.ts';
import {
  byType,
  containersOf,
  endSeconds,
  type Op,
  type ProbedContainer,
  pathOf,
  type Results,
  type Seen,
  type ShownCondition,
  type ShownContainer,
  type TerminationPod,
  targetSpec,
} from './termination-vector.ts';

/** The numbers of docs/semantics.md. */
export const differences = {
  onlyVerdicts: 22,
  terminationIsFinal: 23,
  reportsCountAtOnce: 38,
  endsWithItsGracePeriod: 39,
} as const;

/** How much longer a target stays whose containers are not reported as ended: docs/api.md. */
const endReportSeconds = 10;

type Deletion = { readonly graceSeconds: number; readonly untilSeconds: number };

export function terminationExpectation(pod: TerminationPod, applied: ReadonlySet<number>) {
  const has = (difference: keyof typeof differences) => applied.has(differences[difference]);
  const probes = specProbes(targetSpec(pod)).map(({ container, probeType }) => ({
    container: container.spec.name,
    probeType,
    path: pathOf(container.spec.name, probeType),
  }));
  const states = new Map<string, ContainerState>();
  let nowSeconds = 0;
  let deletion: Deletion | undefined;
  let gone: Seen | undefined;
  let wasInitialized = false;

  function take(op: Op): void {
    if (op.op === 'run') states.set(op.container, { kind: 'running', startedAtMs: 0 });
    if (op.op === 'end') states.set(op.container, { kind: 'terminated', exitCode: op.exitCode });
    if (op.op === 'delete') deletion = shorter(deletion, nowSeconds, op.gracePeriodSeconds);
    nowSeconds += op.seconds + (op.op === 'end' ? endSeconds : 0);
  }

  /** kubelet's rule 6 lets a sidecar start whose startup probe has not succeeded. */
  const isStartedByDeletion = ({ name, probes: own }: ProbedContainer, { verdicts }: Op['expect']): boolean =>
    has('terminationIsFinal') &&
    deletion !== undefined &&
    own.startup !== undefined &&
    verdicts[pathOf(name, 'startup')] !== 'success';

  /** kubelet looks at the containers of a terminating pod again when all have ended. */
  const hasEndedAlone = (name: string, { ended }: Op['expect']): boolean =>
    has('reportsCountAtOnce') && !ended && deletion !== undefined && states.get(name)?.kind === 'terminated';

  function verdictsOf(expect: Op['expect']): Results {
    const entries = Object.entries(expect.verdicts).filter(([path]) => {
      const container = containersOf(pod).find(({ name }) => path.startsWith(`${name}/`));
      return !(path.endsWith('/readiness') && container && isStartedByDeletion(container, expect));
    });
    const failed = probes
      .filter(({ container, probeType }) => probeType === 'readiness' && hasEndedAlone(container, expect))
      .map(({ path }) => [path, 'failure']);
    return Object.fromEntries([...entries, ...failed]);
  }

  function resultsOf(expect: Op['expect'], verdicts: Results): Results {
    const kept = probes.flatMap(({ container, probeType, path }): (readonly [string, string])[] => {
      if (probeType === 'readiness' && hasEndedAlone(container, expect))
        return restarts(container) ? [[path, 'failure']] : [];
      const result = expect.results[path];
      if (result === undefined) return [];
      if (!has('onlyVerdicts')) return [[path, result]];
      return verdicts[path] === undefined ? [] : [[path, result]];
    });
    return Object.fromEntries(kept);
  }

  function restarts(container: string): boolean {
    const state = states.get(container);
    const spec = containersOf(pod).find(({ name }) => name === container);
    return state?.kind === 'terminated' && containerShouldRestart(spec ?? {}, pod.restartPolicy, state.exitCode);
  }

  function containersAfter(expect: Op['expect']): readonly ShownContainer[] {
    return expect.containers.map((shown) => {
      const container = containersOf(pod).find(({ name }) => name === shown.name);
      const isStopped = container && isStartedByDeletion(container, expect);
      const isOver = isStopped || hasEndedAlone(shown.name, expect);
      return isOver ? { ...shown, ready: false, started: false } : shown;
    });
  }

  /** Without anything that is unknown: as recorded, or computed by the same rules of other containers. */
  function conditionsOf(expect: Op['expect'], containers: readonly ShownContainer[]): readonly ShownCondition[] {
    if (expect.ended || JSON.stringify(containers) === JSON.stringify(expect.containers)) return expect.conditions;
    return computed(containers);
  }

  function computed(containers: readonly ShownContainer[]): readonly ShownCondition[] {
    const statusOf = ({ name }: ProbedContainer): ContainerStatus => {
      const shown = containers.find((each) => each.name === name);
      const state = states.get(name) ?? { kind: 'waiting' };
      return {
        name,
        containerID: '',
        state,
        ready: shown?.ready === true,
        started: shown?.started === true,
        restartCount: 0,
      };
    };
    const status = {
      phase: 'Running',
      conditions: [],
      initContainerStatuses: pod.initContainers.map(statusOf),
      containerStatuses: pod.containers.map(statusOf),
    } as const;
    return computedConditions({ uid: 'uid', ...pod }, status, wasInitialized).map(
      ({ observedGeneration: _, ...rest }) => rest,
    );
  }

  /** A condition is Unknown while a probe is, unless it were False even if that had succeeded. */
  function doubted(known: readonly ShownCondition[], containers: readonly ShownContainer[], verdicts: Results) {
    const unknown = probes.filter(({ path }) => verdicts[path] === undefined);
    if (!has('onlyVerdicts') || unknown.length === 0) return known;
    const isGood = (path: string) => verdicts[path] === undefined || verdicts[path] === 'success';
    const best = computed(
      containers.map((shown) => {
        const { probes: own = {} } = containersOf(pod).find(({ name }) => name === shown.name) ?? {};
        const isRunning = states.get(shown.name)?.kind === 'running';
        const started = isRunning && (!own.startup || isGood(pathOf(shown.name, 'startup')));
        const ready = started && (!own.readiness || isGood(pathOf(shown.name, 'readiness')));
        return { ...shown, started, ready };
      }),
    );
    const message = `probes with unknown result: [${unknown.map(({ path }) => path.replace('/', '#')).join(' ')}]`;
    return known.map((condition): ShownCondition => {
      if (condition.type === 'Initialized') return condition;
      const hoped = best.find(({ type }) => type === condition.type) ?? condition;
      if (hoped.status === 'False') return hoped;
      return { type: condition.type, status: 'Unknown', reason: 'NotYetProbed', message };
    });
  }

  /** The target ends with its grace period, whether its containers have or not. */
  function isPurged(): boolean {
    if (!has('endsWithItsGracePeriod') || !deletion) return false;
    const { graceSeconds, untilSeconds } = deletion;
    const isRunning = [...states.values()].some(({ kind }) => kind === 'running');
    return nowSeconds >= untilSeconds + (graceSeconds > 0 && isRunning ? endReportSeconds : 0);
  }

  function seen(op: Op): Seen {
    const { expect } = op;
    const verdicts = verdictsOf(expect);
    const containers = containersAfter(expect);
    const known = conditionsOf(expect, containers);
    const conditions = expect.ended ? known : doubted(known, containers, verdicts);
    wasInitialized = conditions.some(({ type, status }) => type === 'Initialized' && status === 'True');
    const silent = containersOf(pod)
      .filter((container) => isStartedByDeletion(container, expect) || hasEndedAlone(container.name, expect))
      .map(({ name }) => pathOf(name, 'readiness'));
    const ended = expect.ended || isPurged();
    const told = has('endsWithItsGracePeriod') ? deletion?.graceSeconds : expect.grace.at(-1);
    return {
      probed: expect.probed.filter((path) => !silent.includes(path)),
      results: resultsOf(expect, verdicts),
      conditions: byType(conditions),
      containers,
      grace: ended ? undefined : told,
      ended,
    };
  }

  return {
    after(op: Op): Seen {
      take(op);
      if (gone) return gone;
      const now = seen(op);
      if (!has('endsWithItsGracePeriod') || !now.ended) return now;
      // Nothing is probed any more, and nothing changes.
      gone = { ...now, probed: [], results: {} };
      return deletion?.graceSeconds === 0 ? gone : { ...now, results: {} };
    },
  };
}

/** A shorter grace period brings the end forward, a longer one does not delay it. */
function shorter(before: Deletion | undefined, nowSeconds: number, graceSeconds: number): Deletion {
  const next = { graceSeconds, untilSeconds: nowSeconds + graceSeconds };
  return before && before.untilSeconds <= next.untilSeconds ? before : next;
}
