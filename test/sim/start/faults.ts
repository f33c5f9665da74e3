/** The faults of the world of `npm start`: in storms, with calm between them in which everything has to recover. */
import type { Random } from '../../../shared/lib/random.ts';
import { type BusFaults, subscriberNames } from './bus.ts';
import type { DiskFault } from './disk.ts';
import type { FileFault } from './file-machine.ts';
import type { ReceiverFault } from './receivers.ts';
import type { StartWorld } from './world.ts';

/** The last instant with a fault, monotonic ms of the world. */
export type FaultTimes = {
  /** Of what all receivers depend on. */
  commonMs: number;
  /** Of what may delay probes for a while: not of alerts, and a new process probes at once. */
  probingMs: number;
  readonly receiverMs: Map<string, number>;
  /** Of reads of files, for which other edits of the configuration wait. */
  readsMs: number;
  /** Since when the store takes no write; undefined: it takes some. */
  refusingMs: number | undefined;
};

const stormKinds = [
  'store',
  'alert-file',
  'receiver',
  'events',
  'clock-step',
  'power-loss',
  'restart',
  'file-reads',
  'bus',
] as const;
type StormKind = (typeof stormKinds)[number];
/** `files`: those of targets change all the time, which is no fault. */
export type FaultKind = StormKind | 'files';
export const faultKinds: readonly FaultKind[] = [...stormKinds, 'files'];

export type Faults = {
  readonly times: FaultTimes;
  readonly counts: ReadonlyMap<StormKind, number>;
  /** Begins and ends faults. Resolves once a power loss or a restart is over. */
  step(): Promise<void>;
};

/** What has begun and lasts. */
type Begun = { readonly receiver?: string; readonly end: () => void };
type Under = Begun & { readonly kind: StormKind; readonly untilMs: number };

const stormMs = 40 * 60_000;
/** Longer than recovery may take. */
const calmMs = 40 * 60_000;
const everyMs = 90_000;
const faultMsMax = 240_000;
const stepMsMax = 2 * 86_400_000;
/** Mostly at once, as a supervisor does; a machine takes a while. */
const restartMsMax = 60_000;
const restartMs = (random: Random): number => random.next() ** 4 * restartMsMax;
/** A shard is held for so long at a time, by the wall clock: what a life ends in the middle of is then on the disk. */
const slotMs = 13 * 60_000;
/** How long around the end of a slot counts as there, and how often a life that ends does so there. */
const nearSlotEndMs = 15_000;
const nearSlotEndShare = 0.5;
/** Within which a process writes. */
const writesWithinMs = 10_000;
const ofProbing: ReadonlySet<StormKind> = new Set(['store', 'clock-step']);

const isOfLife = (kind: StormKind): kind is 'power-loss' | 'restart' => kind === 'power-loss' || kind === 'restart';

export function faultsOf(world: StartWorld, onRestart: () => Promise<void>, chosen: readonly FaultKind[]): Faults {
  const kinds = stormKinds.filter((kind) => chosen.includes(kind));
  const { clock, random, disk } = world;
  const times: FaultTimes = {
    ...{ commonMs: 0, probingMs: 0, receiverMs: new Map(), readsMs: Number.NEGATIVE_INFINITY },
    refusingMs: undefined,
  };
  const counts = new Map<StormKind, number>();
  let under: readonly Under[] = [];
  let nextMs = stormMs / 2;
  /** An end of a life that waits for its moment. */
  let aimed: { readonly kind: StormKind; readonly atMs: number } | undefined;

  const pick: PickOne = (values) => values[Math.floor(random.next() * values.length)] as (typeof values)[number];
  const touch = ({ kind, receiver }: Pick<Under, 'kind' | 'receiver'>) => {
    const nowMs = clock.monotonicMs();
    if (receiver !== undefined) times.receiverMs.set(receiver, nowMs);
    else times.commonMs = nowMs;
    if (ofProbing.has(kind)) times.probingMs = nowMs;
    if (kind === 'file-reads') times.readsMs = nowMs;
  };
  const begin = async (kind: StormKind) => {
    if (isOfLife(kind) && disk.mayLackAlerts()) return;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (kind === 'clock-step') clock.jump(Math.round((random.next() * 2 - 1) ** 3 * stepMsMax));
    else if (isOfLife(kind)) {
      await (kind === 'restart' ? stopAndStart(world) : losePower(world));
      await onRestart();
    } else {
      const begun = broken(world, times, { kind, pick });
      under = [...under, { kind, ...begun, untilMs: clock.monotonicMs() + random.next() * faultMsMax }];
      return;
    }
    touch({ kind });
  };
  return {
    times,
    counts,
    async step() {
      const nowMs = clock.monotonicMs();
      for (const fault of under) {
        touch(fault);
        if (nowMs >= fault.untilMs) fault.end();
      }
      under = under.filter(({ untilMs }) => nowMs < untilMs);
      if (aimed && nowMs >= aimed.atMs) {
        const { kind } = aimed;
        aimed = undefined;
        await begin(kind);
      }
      if (nowMs < nextMs || kinds.length === 0) return;
      const kind = pick(kinds);
      if (isOfLife(kind) && random.next() < nearSlotEndShare) aimed ??= { kind, atMs: nearSlotEnd(world) };
      else if (!under.some((each) => each.kind === kind)) await begin(kind);
      nextMs = clock.monotonicMs() + random.next() * 2 * everyMs;
      const inCycleMs = nextMs % (stormMs + calmMs);
      if (inCycleMs > stormMs) nextMs += stormMs + calmMs - inCycleMs;
    },
  };
}

type PickOne = <Value>(values: readonly Value[]) => Value;
type Lasting = Exclude<StormKind, 'clock-step' | 'power-loss' | 'restart'>;

function broken(
  world: StartWorld,
  times: FaultTimes,
  { kind, pick }: { readonly kind: Lasting; readonly pick: PickOne },
): Begun {
  switch (kind) {
    case 'store':
      return { end: breakStore(world, times, pick(['full', 'doubt', 'slow'])) };
    case 'alert-file':
      return { end: breakAlerts(world, pick(['full', 'doubt', 'slow'])) };
    case 'file-reads':
      world.machine.fault = pick<FileFault>(['unread', 'slow']);
      return {
        end() {
          world.machine.fault = 'well';
        },
      };
    case 'receiver': {
      const receiver = pick([...world.receivers.values()]);
      receiver.fault = pick<ReceiverFault>(['refuses', 'hangs', 'loses answers']);
      const end = () => {
        receiver.fault = 'well';
      };
      return { end, receiver: receiver.name };
    }
    case 'events':
      return breakSubscriber(world, { subscriber: pick(subscriberNames), how: 'loses' }, false);
    case 'bus':
      return breakSubscriber(world, { subscriber: pick(subscriberNames), how: pick(['slow', 'fails']) }, true);
  }
}

/** An instant shortly before or after the end of the present slot, monotonic. */
function nearSlotEnd({ clock, random }: StartWorld): number {
  const toSlotEndMs = slotMs - (clock.nowMs() % slotMs);
  return clock.monotonicMs() + toSlotEndMs + (random.next() * 2 - 1) * nearSlotEndMs;
}

/** Returns what ends it. */
function breakStore({ disk, clock }: StartWorld, times: FaultTimes, fault: DiskFault): () => void {
  disk.store = fault;
  times.refusingMs = fault === 'full' ? clock.monotonicMs() : undefined;
  return () => {
    disk.store = 'well';
    times.refusingMs = undefined;
  };
}

/** What another fault does to a subscriber meanwhile counts in place of this one. */
function breakSubscriber({ bus }: StartWorld, fault: BusFaults['fault'], hasBursts: boolean): Begun {
  bus.fault = fault;
  bus.hasBursts ||= hasBursts;
  return {
    end() {
      if (bus.fault === fault) bus.fault = undefined;
      if (hasBursts) bus.hasBursts = false;
    },
  };
}

function breakAlerts({ disk }: StartWorld, fault: DiskFault): () => void {
  disk.alerts = fault;
  return () => {
    disk.alerts = 'well';
  };
}

async function losePower(world: StartWorld): Promise<void> {
  const { life, disk, clock, random } = world;
  disk.cutAtWrite(life);
  await clock.advance(random.next() * writesWithinMs);
  disk.cut(life);
  await clock.advance(restartMs(random));
  world.restart();
}

/** In order, as a supervisor does. */
async function stopAndStart(world: StartWorld): Promise<void> {
  const { life, runtime, clock, random } = world;
  await clock.runUntil(runtime.stop());
  life.end();
  await clock.advance(restartMs(random));
  world.restart();
}
