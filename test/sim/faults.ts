/**
 * Which faults happen, and when: they come at random, each with a target and a duration, in the stormy part of every
 * hour. The rest of the hour is calm, and at its end checkers look at what has to have settled. Every fault that took
 * effect is counted by kind.
 */
import type { BusFault, BusFaults, DeliveryFault } from './bus.ts';
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';
import { stepClocks } from './clock-steps.ts';
import type { CrashPoints } from './crash-points.ts';
import type { Caller, Population, Process } from './process.ts';
import type { QueueFault, QueueFaults } from './queue.ts';
import type { StoreFault, StoreFaults } from './store.ts';

/** The faults of a seed. */
export type Profile = {
  /** The largest skew of a process's wall clock. */
  readonly skewMsMax: number;
  /** Mean time between two faults of the storm. */
  readonly faultEveryMs: number;
  /** The stormy part of each hour, from its beginning. */
  readonly stormMs: number;
  /** Loss of the prober's own network: a prober survives it only by doubting itself. */
  readonly selfDoubt: boolean;
  /** Visibility of a received message before its first lease: a function's time-out, or what a worker asks for. */
  readonly queueVisibilityMs: number;
  /** One outage of the store of this length, in the middle; 0: none. */
  readonly outageMs: number;
  /** Wall clocks are set by an hour or a day, among other faults or alone; absent: never. */
  readonly clockSteps?: 'some' | 'only';
};

type StoreKind =
  | 'store throttled'
  | 'store slow'
  | 'store answer lost'
  | 'store in doubt'
  | 'store late write'
  | 'store conflict'
  | 'store outage'
  | 'partition';
type QueueKind = 'queue unreachable' | 'queue answer lost' | 'queue delay' | 'partition';
type BusKind = 'bus partial' | 'bus unreachable' | 'bus answer lost' | 'partition';
type DeliveryKind = 'delivery drop' | 'delivery double' | 'delivery late';
type TickKind = 'tick missing' | 'tick twice' | 'tick late';
type ProcessKind =
  | 'crash'
  | 'pause'
  | 'probe pause'
  | 'network loss'
  | 'sandbox lies'
  | 'route cut'
  | 'clock jump'
  | 'clock step';
type OtherKind = 'queue duplicate' | 'forged event' | 'layout change' | 'release change' | 'release broken';

export type FaultKind = StoreKind | QueueKind | BusKind | DeliveryKind | TickKind | ProcessKind | OtherKind;

/** A fault, as far as checkers need it. */
export type DoneFault = {
  readonly timeMs: number;
  readonly kind: FaultKind;
  readonly process?: string;
  readonly untilMs: number;
};

export type Faults = {
  readonly store: StoreFaults;
  readonly queue: QueueFaults;
  readonly bus: BusFaults;
  /** The delays after which the schedule's tick of this minute comes, one for each time. */
  ticks(): readonly number[];
  /** By kind, how often. */
  counts(): ReadonlyMap<FaultKind, number>;
  start(parts: FaultParts): void;
  isCalm(): boolean;
  /** Since when no faults happen; undefined: it storms. */
  calmSinceMs(): number | undefined;
  onDone(listener: (fault: DoneFault) => void): void;
};

/** The parts of the world that faults act on. */
export type FaultParts = {
  readonly population: Population;
  readonly crashPoints: CrashPoints;
  /** false: no message is in flight. */
  readonly duplicateMessage: (laterByMs: number) => boolean;
  /** Calls `act` while the next probe of this process is in flight. */
  readonly whenProbing: (processName: string, act: () => void) => void;
  readonly forgeEvent: () => void;
  readonly cutNetwork: (processName: string, ms: number) => void;
  /** undefined: there is one route. */
  readonly cutRoute: ((ms: number) => void) | undefined;
  /** undefined: a target here turns unhealthy at its first failure. */
  readonly lieAbout: ((processName: string, ms: number) => void) | undefined;
  readonly changeLayout: () => void;
  /** Returns true if the new release does not start: after so long the one before is back. */
  readonly changeRelease: (brokenMs: number) => boolean;
};

type Window<Kind> = {
  readonly kind: Kind;
  readonly process: string | undefined;
  readonly untilMs: number;
  readonly probability: number;
};

type Windows<Kind extends FaultKind> = {
  open(window: Omit<Window<Kind>, 'untilMs'> & { readonly ms: number }): void;
  hit(caller: Caller | undefined): Kind | undefined;
};

type Ports = { readonly scheduler: Scheduler; readonly chance: Chance; readonly profile: Profile };

const hourMs = 3_600_000;
/** Until the release before is deployed again. */
const brokenReleaseMs = 240_000;
/** No faults while the world starts. */
const peaceMs = 120_000;

export function planFaults({ scheduler, chance, profile }: Ports): Faults {
  const counts = new Map<FaultKind, number>();
  const listeners: ((fault: DoneFault) => void)[] = [];
  let outageUntilMs = 0;

  const done = (kind: FaultKind, process?: string, ms = 0) => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const timeMs = scheduler.nowMs();
    scheduler.trace(`${timeMs} fault ${kind} ${process ?? ''}`);
    for (const listener of listeners)
      listener({ timeMs, kind, untilMs: timeMs + ms, ...(process !== undefined && { process }) });
  };
  const ports = { scheduler, chance };
  const store = windows<StoreKind>(ports, done);
  const queue = windows<QueueKind>(ports, done);
  const bus = windows<BusKind>(ports, done);
  const delivery = windows<DeliveryKind>(ports, done);
  const tick = windows<TickKind>(ports, done);

  const isStorm = () => scheduler.nowMs() > peaceMs && scheduler.nowMs() % hourMs < profile.stormMs;
  /** Ends a fault with the storm. */
  const withinStorm = (ms: number) => Math.max(0, Math.min(ms, profile.stormMs - (scheduler.nowMs() % hourMs)));
  const calmSinceMs = () => {
    if (isStorm() || scheduler.nowMs() < outageUntilMs) return undefined;
    const hourBeganMs = scheduler.nowMs() - (scheduler.nowMs() % hourMs);
    return Math.max(outageUntilMs, scheduler.nowMs() > peaceMs ? hourBeganMs + profile.stormMs : 0);
  };

  const once = (kind: FaultKind, act: () => void) => () => {
    act();
    done(kind);
  };
  const stall = (kind: FaultKind, process: Process, forMs: () => number) => {
    if (!isStorm()) return;
    const pauseMs = withinStorm(forMs());
    done(kind, process.name, pauseMs);
    process.pause(pauseMs);
  };

  /** What each kind of fault does to the world. */
  const strikes = (parts: FaultParts, process: Process): Readonly<Record<FaultKind, () => void>> => {
    const { crashPoints } = parts;
    // Only workers have probes in flight.
    const prober = chance.pick(parts.population.processes.filter(({ role }) => role === 'worker'));
    const maybe = chance.happens(0.6) ? process.name : undefined;
    const ms = withinStorm(chance.between(1_000, 60_000));
    const probability = chance.pick([0.1, 0.3, 0.7]);
    const onStore = (kind: StoreKind) => () => store.open({ kind, process: maybe, ms: Math.ceil(ms / 4), probability });
    const onQueue = (kind: QueueKind) => () => queue.open({ kind, process: maybe, ms: Math.ceil(ms / 2), probability });
    const onBus = (kind: BusKind) => () => bus.open({ kind, process: maybe, ms, probability });
    const onDelivery = (kind: DeliveryKind) => () =>
      delivery.open({ kind, process: undefined, ms: withinStorm(5 * ms), probability: chance.pick([0.1, 0.5, 1]) });
    const onTick = (kind: TickKind) => () =>
      tick.open({ kind, process: undefined, ms: withinStorm(chance.between(60_000, 240_000)), probability: 0.7 });
    // A frozen container is at no call, so it ends at once; armed, it would end in its next invocation.
    const isFrozen = process.life()?.frozenSinceMs !== undefined;
    const crash = () => {
      if (!isStorm()) return;
      done('crash', process.name);
      process.crash(withinStorm(chance.between(200, chance.pick([2_000, 20_000, 90_000]))));
    };
    return {
      crash: () => (isFrozen ? crash() : crashPoints.arm(process, crash)),
      pause: () => {
        if (isFrozen) return;
        const forMs = chance.pick([1, 4, 12, 16, 30, 120]) * chance.between(500, 1_500);
        crashPoints.arm(process, () => stall('pause', process, () => forMs));
      },
      'probe pause': () =>
        parts.whenProbing(prober.name, () => stall('probe pause', prober, () => chance.between(1_200, 8_000))),
      ...each(
        onStore,
        'store throttled',
        'store slow',
        'store answer lost',
        'store in doubt',
        'store late write',
        'store conflict',
      ),
      'store outage': () => outage(withinStorm(chance.between(5_000, 90_000))),
      partition: () => {
        for (const part of [store, queue, bus])
          part.open({ kind: 'partition', process: process.name, ms, probability: 1 });
        done('partition', process.name, ms);
      },
      'network loss': () => {
        if (!profile.selfDoubt) return;
        if (parts.cutRoute && chance.happens(0.3)) {
          parts.cutRoute(ms);
          done('route cut', undefined, ms);
          return;
        }
        if (parts.lieAbout && chance.happens(0.5)) {
          parts.lieAbout(prober.name, ms);
          done('sandbox lies', prober.name, ms);
          return;
        }
        parts.cutNetwork(prober.name, ms);
        done('network loss', prober.name, ms);
      },
      ...each(onQueue, 'queue unreachable', 'queue answer lost'),
      'queue delay': () =>
        queue.open({ kind: 'queue delay', process: undefined, ms: withinStorm(120_000), probability: 0.5 }),
      'queue duplicate': () => {
        const laterByMs = withinStorm(chance.pick([0, 0, chance.wait(30_000), chance.wait(300_000)]));
        if (parts.duplicateMessage(laterByMs)) done('queue duplicate', undefined, laterByMs);
      },
      ...each(onBus, 'bus partial', 'bus unreachable', 'bus answer lost'),
      ...each(onDelivery, 'delivery drop', 'delivery double', 'delivery late'),
      ...each(onTick, 'tick missing', 'tick twice', 'tick late'),
      'clock jump': () => jump(process),
      'clock step': () => {
        if (!profile.clockSteps) return;
        const stepMs = withinStorm(chance.between(60_000, 1_200_000));
        for (const name of stepClocks(ports, parts.population, stepMs)) done('clock step', name, stepMs);
      },
      'forged event': once('forged event', parts.forgeEvent),
      'layout change': once('layout change', parts.changeLayout),
      'release change': () => {
        const ms = withinStorm(brokenReleaseMs);
        if (parts.changeRelease(ms)) done('release broken', undefined, ms);
        else done('release change');
      },
      // One of the changes.
      'release broken': () => undefined,
      // Losses of the network to the targets, but not to every canary.
      'sandbox lies': () => undefined,
      'route cut': () => undefined,
    };
  };

  function strike(parts: FaultParts): void {
    strikes(parts, chance.pick(parts.population.processes))[
      profile.clockSteps === 'only' ? 'clock step' : chance.pick(menu)
    ]();
  }

  function outage(ms: number): void {
    // A short outage within a long one does not end it.
    outageUntilMs = Math.max(outageUntilMs, scheduler.nowMs() + ms);
    store.open({ kind: 'store outage', process: undefined, ms, probability: 1 });
    done('store outage', undefined, ms);
  }

  function jump(process: Process): void {
    const life = process.life();
    if (!life) return;
    life.skewMs = chance.between(-profile.skewMsMax, profile.skewMsMax);
    done('clock jump', process.name);
  }

  const faultOf = (kind: StoreKind): StoreFault => {
    switch (kind) {
      case 'store throttled':
        return { kind: 'throttled' };
      case 'store slow':
        return { kind: 'slow' };
      case 'store answer lost':
        return { kind: 'answerLost' };
      case 'store in doubt':
        return { kind: 'inDoubt', applied: chance.pick(['never', 'first']) };
      case 'store late write':
        return { kind: 'inDoubt', applied: 'late' };
      case 'store conflict':
        return { kind: 'conflict' };
      case 'store outage':
        return chance.happens(0.5) ? { kind: 'throttled' } : { kind: 'unreachable' };
      case 'partition':
        return { kind: 'inDoubt', applied: 'never' };
    }
  };

  return {
    store: {
      next(caller, { writes }) {
        const kind = store.hit(caller);
        return kind && (writes || kind !== 'store conflict') ? faultOf(kind) : undefined;
      },
    },
    queue: {
      next: (caller): QueueFault | undefined => {
        const kind = queue.hit(caller);
        if (kind === undefined || kind === 'queue delay') return undefined;
        return { kind: kind === 'queue answer lost' ? 'answerLost' : 'unreachable' };
      },
      delayMs: () => (queue.hit(undefined) === 'queue delay' ? chance.wait(15_000) : chance.between(0, 50)),
    },
    bus: {
      next: (caller) => ofKind(busFaults, bus.hit(caller)),
      delivery: () => ofKind(deliveryFaults, delivery.hit(undefined)),
    },
    ticks() {
      const normal = chance.between(0, 2_000);
      switch (tick.hit(undefined)) {
        case 'tick missing':
          return [];
        case 'tick twice':
          return [normal, normal + chance.between(0, 5_000)];
        case 'tick late':
          return [chance.between(5_000, 50_000)];
        case undefined:
          return [normal];
      }
    },
    counts: () => counts,
    start(parts) {
      const next = () => {
        if (isStorm()) strike(parts);
        scheduler.after(chance.wait(profile.faultEveryMs), { label: 'fault', deliver: next });
      };
      scheduler.after(peaceMs, { label: 'fault', deliver: next });
      if (profile.outageMs > 0)
        scheduler.after(3 * hourMs, { label: 'outage', deliver: () => outage(profile.outageMs) });
    },
    isCalm: () => calmSinceMs() !== undefined,
    calmSinceMs,
    onDone: (listener) => void listeners.push(listener),
  };
}

const busFaults: Readonly<Record<BusKind, BusFault>> = {
  'bus partial': { kind: 'partial' },
  'bus answer lost': { kind: 'answerLost' },
  'bus unreachable': { kind: 'unreachable' },
  partition: { kind: 'unreachable' },
};
const deliveryFaults: Readonly<Record<DeliveryKind, DeliveryFault>> = {
  'delivery drop': { kind: 'drop' },
  'delivery double': { kind: 'double' },
  'delivery late': { kind: 'late' },
};

const ofKind = <Kind extends FaultKind, Fault>(faults: Readonly<Record<Kind, Fault>>, kind: Kind | undefined) =>
  kind && faults[kind];

const each = <Kind extends FaultKind>(on: (kind: Kind) => () => void, ...kinds: readonly Kind[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, on(kind)])) as Record<Kind, () => void>;

const times = (count: number, ...kinds: readonly FaultKind[]): readonly FaultKind[] =>
  kinds.flatMap((kind) => Array<FaultKind>(count).fill(kind));

/** Each kind as often as its number says. */
const menu: readonly FaultKind[] = [
  ...times(8, 'crash'),
  ...times(6, 'pause'),
  ...times(4, 'probe pause'),
  ...times(2, 'store throttled'),
  ...times(1, 'store slow'),
  ...times(2, 'store answer lost', 'store in doubt', 'store late write', 'store conflict'),
  ...times(1, 'store outage'),
  ...times(2, 'partition', 'network loss'),
  ...times(1, 'queue unreachable', 'queue answer lost'),
  ...times(2, 'queue duplicate'),
  ...times(1, 'queue delay', 'bus partial', 'bus unreachable', 'bus answer lost'),
  ...times(2, 'delivery drop'),
  ...times(1, 'delivery double', 'delivery late', 'tick missing', 'tick twice', 'tick late'),
  ...times(1, 'clock jump', 'clock step', 'forged event'),
  ...times(2, 'layout change'),
  ...times(1, 'release change'),
];

function windows<Kind extends FaultKind>(
  { scheduler, chance }: { readonly scheduler: Scheduler; readonly chance: Chance },
  done: (kind: FaultKind, process?: string) => void,
): Windows<Kind> {
  let open: readonly Window<Kind>[] = [];
  return {
    open({ ms, ...window }) {
      open = [...open, { ...window, untilMs: scheduler.nowMs() + ms }];
    },
    hit(caller) {
      if (open.length === 0) return undefined;
      open = open.filter(({ untilMs }) => untilMs > scheduler.nowMs());
      const own = (window: Window<Kind>) => window.process === undefined || window.process === nameOf(caller?.life);
      const hit = open.find((window) => own(window) && chance.happens(window.probability));
      // Every call fails in a partition or an outage: these are counted once, when they begin.
      if (hit && hit.kind !== 'partition' && hit.kind !== 'store outage') done(hit.kind, nameOf(caller?.life));
      return hit?.kind;
    },
  };
}

const nameOf = (life: Life | undefined): string | undefined => life?.name.slice(0, life.name.lastIndexOf('.'));
