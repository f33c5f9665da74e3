/**
 * The product as the termination vectors see it: the pod is a target that is registered, reported on and deleted
 * through the API of a process that also holds its shard and syncs its status, over a store in memory.
 *
 * The reporter does as kubelet does: it reports how they are, and once all of them have ended after a
 * deletion it deletes the pod without a grace period (pkg/kubelet/status, syncPod).
 */
import { targetAddress } from '../../shared/store/records/keys.ts';
import { readTarget } from '../../shared/table/targets.ts';
import { shardWorld } from '../support/shard-world.ts';
import {
  type Action,
  byType,
  containersOf,
  endSeconds,
  pathOf,
  probePorts,
  type Seen,
  type ShownCondition,
  type ShownContainer,
  type TerminationPod,
  targetSpec,
} from './termination-vector.ts';

const name = 'pod';

type Running = { readonly containerID: string; readonly state: object };

/** A condition as the API and the bus give it. */
type Given = Pick<ShownCondition, 'type' | 'status'> & {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
};

type Last = Pick<Seen, 'conditions' | 'containers'>;

export async function terminationWorld(pod: TerminationPod) {
  const world = shardWorld({ oneProcess: true });
  const ports = probePorts(pod);
  const failing = new Set<string>();
  const asked = new Set<string>();
  const runtime = new Map<string, Running>();
  let begun = 0;
  let isDeleted = false;
  let last: Last = { conditions: [], containers: [] };
  let published = 0;

  world.answer((_, port) => {
    const path = ports.get(port) ?? '';
    asked.add(path);
    return failing.has(path) ? 'failure' : 'success';
  });
  await world.put(name, targetSpec(pod));
  await world.hold();

  const stored = () => readTarget(world.store, targetAddress('default', name));
  const now = () => new Date(world.clock.nowMs()).toISOString();
  const pass = (seconds: number) => world.clock.advance(seconds * 1_000);

  const report = async () => {
    if (!(await stored())) return;
    const statusesOf = (containers: TerminationPod['containers']) =>
      containers.flatMap((container) => {
        const status = runtime.get(container.name);
        return status ? [{ name: container.name, ...status }] : [];
      });
    const containerStatuses = statusesOf(pod.containers);
    const initContainerStatuses = statusesOf(pod.initContainers);
    await world.report(name, { containerStatuses, initContainerStatuses });
  };
  const set = (container: string, state: object) => {
    const containerID = runtime.get(container)?.containerID ?? '';
    runtime.set(container, { containerID, state });
    return report();
  };
  const remove = async (gracePeriodSeconds: number) => {
    isDeleted = true;
    if (await stored()) await world.remove(name, gracePeriodSeconds);
  };
  const hasEnded = () => isDeleted && [...runtime.values()].every(({ state }) => !('running' in state));

  const act = async (action: Action): Promise<void> => {
    switch (action.op) {
      case 'run':
        begun += 1;
        runtime.set(action.container, { containerID: `test://${action.container}-${begun}`, state: {} });
        return set(action.container, { running: { startedAt: now() } });
      case 'end':
        for (const path of ports.values()) if (path.startsWith(`${action.container}/`)) failing.add(path);
        return set(action.container, { terminated: { exitCode: action.exitCode } });
      case 'answer': {
        const path = pathOf(action.container, action.probeType);
        if (action.result === 'failure') failing.add(path);
        else failing.delete(path);
        return undefined;
      }
      case 'delete':
        return remove(action.gracePeriodSeconds);
      case 'wait':
        return undefined;
    }
  };

  /** As the store has them, of the containers that are there now. */
  const results = async () => {
    const entries = Object.values((await stored())?.probes ?? {}).flatMap(
      ({ container, probeType, containerID, result }) =>
        result && containerID === runtime.get(container)?.containerID ? [[pathOf(container, probeType), result]] : [],
    );
    return Object.fromEntries(entries);
  };

  /** As the API shows it, or of a target that is gone as it was published last. */
  const shown = async (isThere: boolean): Promise<Last> => {
    const events = world.publishedEvents('Target Status Changed');
    const newest = events.length > published ? events.at(-1)?.newStatus : undefined;
    published = events.length;
    if (!isThere) return newest ? lastOf(newest.conditions, newest.containers) : last;
    const { conditions, initContainerStatuses, containerStatuses } = await world.shown(name);
    return lastOf(conditions, [...initContainerStatuses, ...containerStatuses]);
  };
  const order = containersOf(pod).map((container) => container.name);
  const lastOf = (
    conditions: readonly Given[],
    containers: readonly { readonly name: string; readonly ready: boolean; readonly started?: boolean | undefined }[],
  ): Last => ({
    conditions: byType(
      conditions.map(({ type, status, reason, message }) => ({
        type,
        status,
        ...(reason !== undefined && { reason }),
        ...(message !== undefined && { message }),
      })),
    ),
    containers: containers
      .map(({ name: of, ready, started }): ShownContainer => ({ name: of, ready, started: started === true }))
      .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
  });

  last = await shown(true);
  return {
    async play(action: Action): Promise<Seen> {
      asked.clear();
      await act(action);
      if (action.op === 'end') {
        await pass(endSeconds);
        asked.clear();
      }
      await pass(1);
      if (hasEnded()) await remove(0);
      await pass(action.seconds - 1);
      const read = await stored();
      last = await shown(read !== undefined);
      const grace = read?.target.deletionGracePeriodSeconds;
      return { probed: [...asked].sort(), results: await results(), ...last, grace, ended: read === undefined };
    },
  };
}
