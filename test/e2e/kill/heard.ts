/** A subscriber that notes restart requests, recoveries and doubts, and reports the restart of some containers. */
import { targetPath } from '../../support/api-client.ts';
import type { World, WorldEvent } from '../world.ts';
import { namespace } from './targets.ts';

type Requested = Extract<WorldEvent, { 'detail-type': 'Container Restart Requested' }>;
type Recovered = Extract<WorldEvent, { 'detail-type': 'Container Recovered' }>;

/** An episode lasts from a failure until the probe succeeds, over restarts in between. */
export type EpisodeEvent = {
  readonly target: string;
  readonly id: string;
  /** When the episode began; identifies it. */
  readonly failedAtMs: number;
  readonly containerID: string;
  /** The event's `time`, in whole seconds. */
  readonly timeMs: number;
  readonly heardAtMs: number;
} & (
  | { readonly kind: 'requested'; readonly attempt: number }
  | { readonly kind: 'recovered'; readonly attempts: number }
);

export type Subscriber = {
  readonly heard: readonly EpisodeEvent[];
  /** Whether the prober has published in this time that it doubts itself. */
  doubted(fromMs: number, toMs: number): boolean;
  /** containerIDs whose restart was reported and acknowledged, by target. */
  readonly restarted: ReadonlyMap<string, ReadonlySet<string>>;
  /** Reports no further restart; resolves when all pending reports are acknowledged. */
  stop(): Promise<void>;
};

const againMs = 200;

/** `restarts`: whether the subscriber restarts the containers of this target. */
export function subscribe(world: World, restarts: (target: string) => boolean): Subscriber {
  const heard: EpisodeEvent[] = [];
  const doubtsMs: number[] = [];
  const restarted = new Map<string, Set<string>>();
  const reports = new Set<Promise<void>>();
  const asked = new Set<string>();
  let isStopped = false;

  const report = async (target: string, containerID: string): Promise<void> => {
    while (!(await isAcknowledged(world, target, containerID)))
      await new Promise<void>((resolve) => world.clock.setTimer(againMs, resolve));
    restarted.set(target, (restarted.get(target) ?? new Set()).add(containerID));
  };
  const unsubscribe = world.subscribe((event) => {
    if (event['detail-type'] === 'Prober Degraded') doubtsMs.push(Date.now());
    if (!isOfEpisode(event)) return;
    const one = episodeEvent(event);
    heard.push(one);
    if (isStopped || one.kind === 'recovered' || asked.has(one.containerID) || !restarts(one.target)) return;
    asked.add(one.containerID);
    const reporting = report(one.target, one.containerID).finally(() => reports.delete(reporting));
    reports.add(reporting);
  });
  return {
    heard,
    doubted: (fromMs, toMs) => doubtsMs.some((atMs) => atMs >= fromMs && atMs <= toMs),
    restarted,
    async stop() {
      isStopped = true;
      await Promise.all(reports);
      unsubscribe();
    },
  };
}

/** false: no answer, the process was killed. To report the same restart again is harmless. */
async function isAcknowledged(world: World, target: string, containerID: string): Promise<boolean> {
  const path = `${targetPath(target, namespace)}/restarted`;
  const answer = await world.api('POST', path, { containerID }).catch(() => undefined);
  if (answer && answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer !== undefined;
}

const isOfEpisode = (event: WorldEvent): event is Requested | Recovered =>
  event['detail-type'] === 'Container Restart Requested' || event['detail-type'] === 'Container Recovered';

/** `<uid>/<container>/restart/<containerID>/<ms of the first failure>/<attempt, or recovered>`. */
const idPattern = /\/(\d+)\/(?:\d+|recovered)$/;

function episodeEvent({ time, detail }: Requested | Recovered): EpisodeEvent {
  const { id, containerID, target } = detail;
  const failedAtMs = Number(idPattern.exec(id)?.[1]);
  const common = { target: target.name, id, failedAtMs, containerID, timeMs: Date.parse(time), heardAtMs: Date.now() };
  return 'attempt' in detail
    ? { ...common, kind: 'requested', attempt: detail.attempt }
    : { ...common, kind: 'recovered', attempts: detail.attempts };
}
