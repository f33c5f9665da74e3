/**
 * status-manager.jsonl: how the status of a pod follows from what is set. SetPodStatus and TerminatePod are what the
 * process that runs the containers reports, SetContainerReadiness and SetContainerStartup are verdicts of probes, a
 * deleted pod is a target that terminates, an orphan one that is purged. The product has to come to what was recorded,
 * or to exactly what the numbered differences make of it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PodStatus } from '../../shared/core/spec/types.ts';
import { compare } from './compare.ts';
import type { Finding, VectorRunner } from './runner.ts';
import { status, type VectorPod } from './status-decode.ts';
import { differences, inScope, statusExpectation } from './status-expected.ts';
import { stepsDifference } from './status-step.ts';
import { comparable, type Op, probedContainer, type Seen } from './status-vector.ts';
import { statusWorld, type Verdict } from './status-world.ts';

const numbers: readonly number[] = Object.values(differences);

export const runStatusManager: VectorRunner = async (vector): Promise<Finding> => {
  const pods = vector.pods as readonly VectorPod[];
  const ops = vector.ops as readonly Op[];
  const expectedWith = (applied: readonly number[]) => {
    const expectation = statusExpectation(pods, new Set(applied));
    return ops.map((op) => expectation.after(op));
  };
  const expected = expectedWith(numbers);
  const different =
    recordedDifference(ops, expectedWith([])) ??
    stepsDifference(pods, ops) ??
    (await playedDifference(pods, ops, expected));
  if (different) return different;
  const without = (number: number) => expectedWith(numbers.filter((other) => other !== number));
  const rules = numbers.filter((number) => !isDeepStrictEqual(comparable(without(number)), comparable(expected)));
  return rules.length > 0 ? { kind: 'byRule', rules } : undefined;
};

/** Without a difference the expectation is what was recorded. */
function recordedDifference(ops: readonly Op[], expected: readonly Seen[]): string | undefined {
  for (const [index, { op, podUID = '', expect }] of ops.entries()) {
    const recorded = expect.cached ? inScope(status(expect.cached.status)) : null;
    const actual = expected[index]?.statuses[podUID] ?? null;
    const where = `op ${index} (${op}) without differences`;
    const different = compare(where, comparable({ actual }), comparable({ actual: recorded }));
    if (different) return different;
  }
  return undefined;
}

async function playedDifference(
  pods: readonly VectorPod[],
  ops: readonly Op[],
  expected: readonly Seen[],
): Promise<string | undefined> {
  const play = player(pods);
  for (const [index, op] of ops.entries()) {
    const different = compare(`op ${index} (${op.op})`, comparable(await play(op)), comparable(expected[index]));
    if (different) return different;
  }
  return undefined;
}

/** Plays an op, and says what is seen afterwards. */
function player(pods: readonly VectorPod[]) {
  const world = statusWorld(pods);
  const recorded = new Map<string, PodStatus>();
  /** What the reporter has said last of the conditions. */
  const reported = new Map<string, PodStatus['conditions']>();

  /** TerminatePod finds how each container ended: here its reporter says so. */
  async function report(pod: VectorPod, { op, status: said, expect }: Op): Promise<void> {
    // A first status that kubelet refuses, for its copy of the pod, is no status here either: nothing is registered.
    if (!expect.cached) return;
    const isSet = op === 'setPodStatus';
    const given = status((isSet ? said : expect.cached.status) ?? {});
    if (isSet) reported.set(pod.uid, given.conditions);
    const verdicts = expect.updateQueued ? verdictsOf(pod, given) : [];
    await world.report(pod, { ...given, conditions: reported.get(pod.uid) ?? [] }, verdicts);
  }

  /** False: nothing executes a probe of such a container, so there is no verdict. */
  async function call(pod: VectorPod, { op, containerID = '', ready = false, started = false }: Op): Promise<boolean> {
    const before = recorded.get(pod.uid);
    const container = before && probedContainer(pod, before, containerID);
    if (container === undefined) return false;
    const verdict: Verdict =
      op === 'setContainerStartup'
        ? { container, probeType: 'startup', isSuccess: started }
        : { container, probeType: 'readiness', isSuccess: ready };
    await world.verdict(pod, containerID, verdict);
    return true;
  }

  async function ofPod(pod: VectorPod, op: Op): Promise<boolean> {
    if (op.op === 'setContainerReadiness' || op.op === 'setContainerStartup') return call(pod, op);
    if (op.op === 'setPodStatus' || op.op === 'terminatePod') await report(pod, op);
    if (op.op === 'deletePod') await world.remove(pod);
    if (op.op === 'observePodStatus') await world.syncAll();
    return true;
  }

  async function ofAll(op: Op): Promise<true> {
    if (op.op === 'advance') await world.advance(op.seconds ?? 0);
    else await world.keepOnly(new Set(op.expect.cachedUIDs));
    if (op.op === 'sync') await world.syncAll();
    return true;
  }

  function remember(op: Op, uid: string | undefined): void {
    if (uid !== undefined && op.expect.cached) recorded.set(uid, status(op.expect.cached.status));
    for (const each of pods) {
      if (op.expect.cachedUIDs?.includes(each.uid)) continue;
      recorded.delete(each.uid);
      reported.delete(each.uid);
    }
  }

  return async (op: Op): Promise<Seen> => {
    const pod = pods.find(({ uid }) => uid === op.podUID);
    const before = pod ? world.published(pod) : 0;
    const called = pod ? await ofPod(pod, op) : await ofAll(op);
    remember(op, pod?.uid);
    const statuses = await world.statuses();
    const published = pod ? world.published(pod) - before : 0;
    return { statuses, written: op.op === 'sync' ? statuses : undefined, published, called };
  };
}

/** What gives `ready` and `started` of the containers that run. */
function verdictsOf(pod: VectorPod, { containerStatuses, initContainerStatuses }: PodStatus): readonly Verdict[] {
  const isSidecar = (name: string) =>
    pod.initContainers?.some((container) => container.name === name && container.restartPolicy === 'Always');
  return [...containerStatuses, ...initContainerStatuses.filter(({ name }) => isSidecar(name))]
    .filter(({ state }) => state?.kind === 'running')
    .flatMap(({ name: container, started, ready }): readonly Verdict[] => [
      { container, probeType: 'startup', isSuccess: started === true },
      { container, probeType: 'readiness', isSuccess: ready },
    ]);
}
