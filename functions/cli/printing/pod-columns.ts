/** READY, STATUS and RESTARTS of a Pod, as kubectl's printer computes them (pkg/printers/internalversion: printPod). */
import type { ContainerStatusView, TargetView } from '../../../shared/api/schema/target-schema.ts';

export type PodColumns = {
  readonly ready: number;
  /** Regular containers and sidecars. */
  readonly containers: number;
  readonly status: string;
  readonly restarts: number;
  /** When the last restart was, ms since the epoch. Absent: not known. */
  readonly lastRestartMs?: number;
};

/** Computed from spec and status as they are; whether the status still holds is decided elsewhere. */
export function podColumns(target: TargetView): PodColumns {
  const { spec, status } = target;
  const sidecars = new Set(
    spec.initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const init = initialized(status.initContainerStatuses, sidecars, spec.initContainers.length);
  const containers = spec.containers.length + sidecars.size;
  const isInitialized = status.conditions.some((each) => each.type === 'Initialized' && each.status === 'True');
  if (init.reason !== undefined && !isInitialized) {
    const reason = terminatingOr(target, init.reason);
    const { ready, visited } = init;
    return { ready, containers, status: reason, ...restartsOf(status.initContainerStatuses.slice(0, visited)) };
  }
  const running = status.containerStatuses.filter(({ ready, state }) => ready && isRunning(state)).length;
  return {
    ready: init.ready + running,
    containers,
    status: terminatingOr(target, reasonOf(target, running > 0, init.reason)),
    // An ordinary init container that has done its work is the past.
    ...restartsOf([
      ...status.initContainerStatuses.filter(({ name }) => sidecars.has(name)),
      ...status.containerStatuses,
    ]),
  };
}

/**
 * The ready sidecars, and the reason if an init container still keeps the Pod from its containers. `visited`: how many
 * had their turn.
 */
function initialized(
  statuses: readonly ContainerStatusView[],
  sidecars: ReadonlySet<string>,
  specified: number,
): { readonly ready: number; readonly visited: number; readonly reason?: string } {
  let ready = 0;
  for (const [index, { name, state, started = false, ready: isReady }] of statuses.entries()) {
    if (state.terminated?.exitCode === 0) continue;
    if (sidecars.has(name) && started) {
      if (isReady) ready += 1;
      continue;
    }
    const waiting = state.waiting?.reason === 'PodInitializing' ? undefined : nonEmpty(state.waiting?.reason);
    const reason = endedText(state) ?? waiting ?? `${index}/${specified}`;
    return { ready, visited: index + 1, reason: `Init:${reason}` };
  }
  return { ready, visited: statuses.length };
}

const isRunning = ({ running, waiting, terminated }: ContainerStatusView['state']): boolean =>
  running !== undefined && nonEmpty(waiting?.reason) === undefined && !terminated;

/** What keeps a container from running, the first one's before the others', or the phase. */
function reasonOf({ status }: TargetView, hasRunning: boolean, initReason: string | undefined): string {
  const { conditions, containerStatuses } = status;
  const isGated = conditions.some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  const ofPod = initReason ?? (isGated ? 'SchedulingGated' : (nonEmpty(status.reason) ?? status.phase));
  const stopped = containerStatuses.flatMap(({ state }) => nonEmpty(state.waiting?.reason) ?? endedText(state) ?? []);
  const [reason = ofPod] = stopped;
  if (reason !== 'Completed') return reason;
  const failed = containerStatuses.find(({ state }) => (state.terminated?.exitCode ?? 0) !== 0);
  if (hasRunning && conditions.some(({ type, status: isReady }) => type === 'Ready' && isReady === 'True'))
    return 'Running';
  return (failed && endedText(failed.state)) ?? (hasRunning ? 'NotReady' : reason);
}

function endedText({ terminated }: ContainerStatusView['state']): string | undefined {
  return terminated && (nonEmpty(terminated.reason) ?? `ExitCode:${terminated.exitCode}`);
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** kubelet's reason of a Pod whose node has gone. */
const nodeUnreachable = 'NodeLost';

function terminatingOr({ metadata, status }: TargetView, reason: string): string {
  if (metadata.deletionTimestamp === undefined) return reason;
  if (status.reason === nodeUnreachable) return 'Unknown';
  return status.phase === 'Succeeded' || status.phase === 'Failed' ? reason : 'Terminating';
}

function restartsOf(statuses: readonly ContainerStatusView[]) {
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const endedMs = statuses.flatMap(({ lastState }) => Date.parse(lastState.terminated?.finishedAt ?? ''));
  const lastMs = Math.max(...endedMs.filter((ms) => !Number.isNaN(ms)));
  return { restarts, ...(Number.isFinite(lastMs) && { lastRestartMs: lastMs }) };
}
