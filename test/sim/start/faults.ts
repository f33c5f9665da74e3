/** The faults of the world of `npm start`: in storms, with calm between them in which everything has to recover. */
import type { DiskFault } from './disk.ts';
import type { ReceiverFault } from './receivers.ts';
import type { StartWorld } from './world.ts';

/** The last instant with a fault, monotonic ms of the world. */
export type FaultTimes = {
  /** Of what all receivers depend on. */
  commonMs: number;
  /** Of what probing may depend on: not of alerts. */
  probingMs: number;
  readonly receiverMs: Map<string, number>;
};

export type FaultKind = 'store' | 'alert file' | 'receiver' | 'events' | 'clock step' | 'power loss';
export const faultKinds: readonly FaultKind[] = [
  ...(['store', 'alert file', 'receiver', 'events', 'clock step', 'power loss'] as const),
];

export type Faults = {
  readonly times: FaultTimes;
  readonly counts: ReadonlyMap<FaultKind, number>;
  /** Begins and ends faults. Resolves once a power loss is over. */
  step(): Promise<void>;
};

type Under = {
  readonly kind: FaultKind;
  readonly untilMs: number;
  readonly receiver?: string;
  readonly end: () => void;
};

const stormMs = 40 * 60_000;
/** Longer than recovery may take. */
const calmMs = 40 * 60_000;
const everyMs = 90_000;
const faultMsMax = 240_000;
const stepMsMax = 2 * 86_400_000;
const restartMsMax = 60_000;
/** Within which a process writes. */
const writesWithinMs = 10_000;

export function faultsOf(world: StartWorld, onRestart: () => Promise<void>, kinds = faultKinds): Faults {
  const { clock, random, disk, receivers } = world;
  const times: FaultTimes = { commonMs: 0, probingMs: 0, receiverMs: new Map() };
  const counts = new Map<FaultKind, number>();
  let under: readonly Under[] = [];
  let nextMs = stormMs / 2;

  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random.next() * values.length)] as Value;
  const touch = ({ kind, receiver }: Pick<Under, 'kind' | 'receiver'>) => {
    const nowMs = clock.monotonicMs();
    if (receiver !== undefined) times.receiverMs.set(receiver, nowMs);
    else times.commonMs = nowMs;
    if (kind === 'store' || kind === 'clock step' || kind === 'power loss') times.probingMs = nowMs;
  };
  const lasts = (kind: FaultKind, end: () => void, receiver?: string) => {
    const untilMs = clock.monotonicMs() + random.next() * faultMsMax;
    under = [...under, { kind, untilMs, end, ...(receiver !== undefined && { receiver }) }];
  };
  const losePower = async () => {
    const { life } = world;
    disk.cutAtWrite(life);
    await clock.advance(random.next() * writesWithinMs);
    disk.cut(life);
    await clock.advance(random.next() * restartMsMax);
    world.restart();
    await onRestart();
  };
  const begin = async (kind: FaultKind) => {
    if (kind === 'power loss' && disk.mayLackAlerts()) return;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    switch (kind) {
      case 'store':
        disk.store = pick<DiskFault>(['full', 'doubt', 'slow']);
        return lasts(kind, () => {
          disk.store = 'well';
        });
      case 'alert file':
        disk.alerts = pick<DiskFault>(['full', 'doubt', 'slow']);
        return lasts(kind, () => {
          disk.alerts = 'well';
        });
      case 'receiver': {
        const receiver = pick([...receivers.values()]);
        receiver.fault = pick<ReceiverFault>(['refuses', 'hangs', 'loses answers']);
        const end = () => {
          receiver.fault = 'well';
        };
        return lasts(kind, end, receiver.name);
      }
      case 'events':
        world.losesEvents = true;
        return lasts(kind, () => {
          world.losesEvents = false;
        });
      case 'clock step':
        clock.jump(Math.round((random.next() * 2 - 1) ** 3 * stepMsMax));
        break;
      case 'power loss':
        await losePower();
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
      if (nowMs < nextMs || kinds.length === 0) return;
      const kind = pick(kinds);
      if (!under.some((each) => each.kind === kind)) await begin(kind);
      nextMs = clock.monotonicMs() + random.next() * 2 * everyMs;
      const inCycleMs = nextMs % (stormMs + calmMs);
      if (inCycleMs > stormMs) nextMs += stormMs + calmMs - inCycleMs;
    },
  };
}
