/** A look at everything that is shown and published: what may not be, and what is missing although it had time. */
import type { EventEnvelope } from '../../shared/bus/bus.ts';
import type { ShardWorld } from '../support/shard-world.ts';
import { type Episode, eventFaults, type RestartEvent, unpublished } from './event-rules.ts';
import type { Life } from './life.ts';
import {
  type Before,
  isSame,
  lastProbeFaults,
  missed,
  pause,
  probeLies,
  type ShownProbe,
  sinceFaults,
} from './probe-rules.ts';
import { type ResultEvent, resultFaults, type StatusEvent, statusFaults } from './published-rules.ts';
import type { ContainerName, ProbeType, TargetName } from './steps.ts';
import { type Shown, targetFaults } from './target-rules.ts';
import { noticesMs, type ProbeTruth, syncsMs } from './truth.ts';

const lookMs = 100;

type Item = { readonly metadata: { readonly name: TargetName; readonly uid: string }; readonly status: Shown };

/** The look before, by uid and probe. */
type Looks = Map<string, Before>;

/** What is wrong, and until when (ms) it may be. */
type Fault = { readonly text: string; readonly untilMs: number };

/** Returns a look at everything: what may not be is waited for as long as it may take. */
export function lookOf(world: ShardWorld, lives: Map<TargetName, Life>): () => Promise<void> {
  const before: Looks = new Map();
  const events = eventsOf(world);
  const known = new Map<string, Life>();
  const faultsNow = async (beganMs: number): Promise<readonly Fault[]> => {
    for (const life of lives.values()) known.set(life.uid, life);
    const items = await shownItems(world);
    for (const life of lives.values()) if (isPurged(life, items, world.clock.nowMs())) life.end();
    const there = [...lives.values()].filter((life) => life.isThere());
    const told = [...events.faults(known), ...events.publishedFaults(known)];
    return [
      ...listFaults(there, items).map((text) => ({ text, untilMs: beganMs })),
      ...there.flatMap((life) => overstayed(life, world.clock.nowMs())).map((text) => ({ text, untilMs: beganMs })),
      ...told.map((text) => ({ text, untilMs: beganMs })),
      ...there.flatMap((life) => {
        const item = items.find(({ metadata }) => metadata.uid === life.uid);
        return item ? lifeFaults(life, item.status, { before, beganMs, open: events.open }) : [];
      }),
    ];
  };
  return async () => {
    const beganMs = world.clock.nowMs();
    for (;;) {
      const faults = await faultsNow(beganMs);
      if (faults.length === 0) return;
      const overdue = faults.filter(({ untilMs }) => untilMs <= world.clock.nowMs());
      if (overdue.length > 0) throw new Error(overdue.map(({ text }) => text).join('\n  '));
      await world.clock.advance(lookMs);
    }
  };
}

/** The grace period of the target is over, and it is not there any more. */
const isPurged = (life: Life, items: readonly Item[], nowMs: number): boolean =>
  nowMs >= (life.termination()?.endMs ?? Number.POSITIVE_INFINITY) &&
  !items.some(({ metadata }) => metadata.uid === life.uid);

/** The holder asks for the purge at the end of the grace period, and a new holder once it has loaded the target. */
const purgesMs = 30_000;

const overstayed = (life: Life, nowMs: number): readonly string[] =>
  nowMs > (life.termination()?.endMs ?? Number.POSITIVE_INFINITY) + purgesMs
    ? [`${life.name} is there long after its grace period`]
    : [];

/** With what liveness and startup had found when the target was deleted: of its later containers they find nothing. */
function frozen(life: Life, now: Shown): Shown {
  const { shown } = life.termination() ?? {};
  if (!shown) return now;
  const idOf = ({ containerStatuses, initContainerStatuses }: Shown, container: string) =>
    [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)?.containerID;
  const probes = now.probes.map((probe): ShownProbe => {
    if (probe.probeType === 'readiness') return probe;
    const { container, probeType } = probe;
    const last = shown.probes.find((each) => each.container === container && each.probeType === probeType);
    const isSame = last && idOf(shown, container) === idOf(now, container);
    return isSame ? last : { ...probe, result: 'unknown', reason: 'NotYetProbed' };
  });
  return { ...now, probes };
}

type Seen = {
  readonly before: Looks;
  readonly beganMs: number;
  readonly open: (uid: string, container: ContainerName) => Episode | undefined;
};

function lifeFaults(life: Life, shown: Shown, { before, beganMs, open }: Seen): readonly Fault[] {
  const syncedMs = Math.max(beganMs, beganMs + syncsMs);
  const named = (place: string, untilMs: number) => (text: string) => ({
    text: `${life.name} ${place}: ${text}`,
    untilMs,
  });
  if (shown.conditions.some(({ type, status }) => type === 'Initialized' && status === 'True')) life.sawInitialized();
  const ofProbes = shown.probes.flatMap((probe) => {
    const { container, probeType } = probe;
    const truth = life.probe(container as ContainerName, probeType);
    const key = `${life.uid}#${container}#${probeType}`;
    const last = before.get(key);
    const place = placeOf(truth, probe);
    const lies = probeLies(truth, probe).map(named(place, life.changedMs() + syncsMs));
    const jumps = last ? sinceFaults(truth, probe, last) : [];
    const turnMs = turnOf(life, shown, probe);
    const late = [...missed(truth, probe), ...pause(truth, turnMs), ...lastProbeFaults(truth, probe, turnMs)];
    const otherMs = last && (isSame(probe, last.shown) ? last.otherMs : last.atMs);
    before.set(key, { shown: probe, atMs: truth.nowMs, otherMs: otherMs ?? 0 });
    return [...lies, ...[...jumps, ...late].map(named(place, beganMs))];
  });
  const ofTarget = targetFaults(life.truth(), frozen(life, shown));
  const ofEvents = life.truth().containers.flatMap(({ name }) =>
    unpublished(
      (type) => life.probe(name, type),
      (type) => shown.probes.find((probe) => probe.container === name && probe.probeType === type)?.result,
      { lifecycle: life.lifecycle, open: open(life.uid, name) },
    ),
  );
  return [...ofProbes, ...[...ofTarget, ...ofEvents].map(named('', syncedMs))];
}

const askedShown = 8;

/** Names the probe, what is shown about it, and its last findings. */
function placeOf({ nowMs, asked }: ProbeTruth, { container, probeType, result, reason, since }: ShownProbe): string {
  const found = asked.slice(-askedShown).map(({ atMs, finding }) => `${finding} at ${instantOf(atMs)}`);
  const seen = found.join(', ') || 'nothing';
  return `${container} ${probeType} is ${result} ${reason ?? ''} since ${since} at ${instantOf(nowMs)} after ${seen}`;
}

const instantOf = (atMs: number): string => new Date(atMs).toISOString().slice('2030-01-01T'.length);

/** Since when (ms) the startup gate, as it is shown, surely lets the probe be made; undefined: it does not. */
function turnOf(life: Life, { probes }: Shown, { container, probeType }: ShownProbe): number | undefined {
  const startup = probes.find((probe) => probe.container === container && probe.probeType === 'startup');
  const isOpen = !startup || (startup.result === 'success') === (probeType !== 'startup');
  return isOpen ? Math.max(life.changedMs() + noticesMs, Date.parse(startup?.since ?? '1970')) : undefined;
}

const readies = { true: 'True', false: 'False', unknown: 'Unknown' } as const;

/** All targets, each as the filter that names its readiness shows it. */
async function shownItems(world: ShardWorld): Promise<readonly Item[]> {
  const lists = Object.entries(readies).map(async ([ready, status]) => {
    const response = await world.request('GET', `/v1/targets?ready=${ready}`);
    const { items } = (await response.json()) as { readonly items: readonly Item[] };
    const isWrong = items.find(
      (item) => item.status.conditions.find(({ type }) => type === 'Ready')?.status !== status,
    );
    if (isWrong) throw new Error(`ready=${ready} lists ${JSON.stringify(isWrong.status.conditions)}`);
    return items;
  });
  return (await Promise.all(lists)).flat();
}

function listFaults(there: readonly Life[], items: readonly Item[]): readonly string[] {
  const [found, expected] = [items.map(({ metadata }) => metadata.uid), there.map(({ uid }) => uid)];
  const [one, other] = [found.sort().join(' '), expected.sort().join(' ')];
  return one === other ? [] : [`the lists by readiness have ${one}, not ${other}`];
}

const restartKinds: { readonly [type: string]: RestartEvent['kind'] } = {
  'Container Restart Requested': 'requested',
  'Container Recovered': 'recovered',
};

/** Collects the events about restarts; `faults` judges those that came since it was last called. */
function eventsOf(world: ShardWorld) {
  const seen = new Set<string>();
  const waiting: RestartEvent[] = [];
  const episodes = new Map<string, Episode>();
  world.bus.subscribe({ source: ['probelet'], 'detail-type': Object.keys(restartKinds) }, (envelope) => {
    if (seen.has(envelope.id)) return;
    seen.add(envelope.id);
    waiting.push(restartEventOf(envelope, world.clock.nowMs()));
  });
  const published: Published[] = [];
  world.bus.subscribe({ source: ['probelet'], 'detail-type': Object.keys(publishedKinds) }, (envelope) => {
    published.push(publishedOf(envelope, world.clock.nowMs()));
  });
  const publishedFaults = (known: ReadonlyMap<string, Life>): readonly string[] =>
    published.splice(0).flatMap(({ uid, event }) => {
      const life = known.get(uid);
      if (!life) return [];
      const faults = event.kind === 'result' ? resultFaults(life, event) : statusFaults(life, event);
      return faults.map((text) => `${life.name} ${JSON.stringify(event)}: ${text}`);
    });
  return {
    publishedFaults,
    open: (uid: string, container: ContainerName) => episodes.get(`${uid}#${container}`),
    faults: (known: ReadonlyMap<string, Life>): readonly string[] =>
      waiting.splice(0).flatMap((event) => {
        const life = known.get(event.uid);
        const truthOf = life && ((type: ProbeType) => life.probe(event.container, type));
        const key = `${event.uid}#${event.container}`;
        const faults = truthOf ? eventFaults(truthOf, event, episodes.get(key)) : ['of no target'];
        if (event.kind === 'requested') episodes.set(key, { last: event });
        else episodes.delete(key);
        return faults.map((text) => `${JSON.stringify(event)}: ${text}`);
      }),
  };
}

const publishedKinds = { 'Probe Result Changed': 'result', 'Target Status Changed': 'status' } as const;

type Published = { readonly uid: string; readonly event: ResultEvent | StatusEvent };

function publishedOf(envelope: EventEnvelope, nowMs: number): Published {
  const { target, ...detail } = envelope.detail as unknown as {
    readonly target: { readonly uid: string };
    readonly attempts?: readonly { readonly time: string }[];
  };
  const time = detail.attempts?.at(-1)?.time;
  const kind = publishedKinds[envelope['detail-type'] as keyof typeof publishedKinds];
  const event = {
    ...detail,
    kind,
    sinceMs: time === undefined ? nowMs : Date.parse(time),
  } as unknown as Published['event'];
  return { uid: target.uid, event };
}

function restartEventOf(envelope: EventEnvelope, atMs: number): RestartEvent {
  const { target, ...detail } = envelope.detail as unknown as RestartEvent & {
    readonly target: { readonly uid: string };
  };
  const kind = restartKinds[envelope['detail-type']] ?? 'requested';
  const { container, containerID, probeType, attempt } = detail;
  return { kind, atMs, id: envelope.id, uid: target.uid, container, containerID, probeType, attempt };
}
