/**
 * When a worker probes: kubelet's ticker and manual trigger (pkg/kubelet/prober/worker.go, `run`) as a state machine.
 * The origin is an argument, so the same rules apply from a worker's start (kubelet) and from a hashed phase (the
 * product).
 *
 * Use: `passTime` to now, then take one of `readyWakes` with `takeWake` and probe. If none is ready, wait until
 * `dueMs`. If both are ready, Go chooses at random; here the caller chooses.
 */

export type Ticker = {
  readonly periodMs: number;
  /** The next tick. */
  readonly nextTickMs: number;
  /** A tick has come and was not taken: at most one is held, later ones are dropped. */
  readonly tickHeld: boolean;
  /** A trigger has come and was not taken: triggers coalesce. */
  readonly triggerHeld: boolean;
  /** Set while the ticks are off this phase and returning to it. */
  readonly returningTo?: Phased;
  /** Tick mode: nothing ticks until a run plans it. */
  readonly resting?: Resting;
};

/** When it was last begun, wall time, as far as is known. */
export type Resting = { readonly probedAtMs?: number };

export type Wake = 'tick' | 'trigger';

/** Ticks keep their phase however long a probe runs. */
export function passTime(ticker: Ticker, nowMs: number): Ticker {
  if (ticker.resting || nowMs < ticker.nextTickMs) return ticker;
  const passed = Math.floor((nowMs - ticker.nextTickMs) / ticker.periodMs) + 1;
  return { ...ticker, tickHeld: true, nextTickMs: ticker.nextTickMs + passed * ticker.periodMs };
}

/** A manual trigger: held until taken, also while a probe runs. */
export function holdTrigger(ticker: Ticker): Ticker {
  return ticker.triggerHeld ? ticker : { ...ticker, triggerHeld: true };
}

export function readyWakes(ticker: Ticker): readonly Wake[] {
  return [...(ticker.tickHeld ? (['tick'] as const) : []), ...(ticker.triggerHeld ? (['trigger'] as const) : [])];
}

/** Taking a trigger restarts the ticker from now and drops a held tick; taking a tick keeps a held trigger. */
export function takeWake(ticker: Ticker, wake: Wake, nowMs: number): Ticker {
  switch (wake) {
    case 'tick': {
      const taken = { ...ticker, tickHeld: false };
      return ticker.returningTo ? towards(ticker.returningTo, taken, nowMs) : taken;
    }
    case 'trigger': {
      const { returningTo: _, ...rest } = ticker;
      return { ...rest, tickHeld: false, triggerHeld: false, nextTickMs: nowMs + ticker.periodMs };
    }
  }
}

/** After a tick that was taken late: the next one is at least 0.9 period away, and not much more than one period. */
export function spaceOut(ticker: Ticker, nowMs: number): Ticker {
  const { periodMs, nextTickMs, returningTo } = ticker;
  return towards(returningTo ?? { phaseMs: nextTickMs % periodMs, periodMs }, ticker, nowMs);
}

/** How much longer than a period the last step back to the phase may be. */
const stepLateMs = 2_500;

/**
 * The next tick on the return to a phase: its first instant at least 0.9 period away, or, if that is too far, 0.9
 * period from now without an instant. Each such step comes a tenth of a period nearer to the phase.
 */
function towards(phased: Phased, { returningTo: _, ...ticker }: Ticker, nowMs: number): Ticker {
  const soonestMs = Math.ceil(nowMs + gapMin * phased.periodMs);
  const instantMs = firstInstant(soonestMs, phased);
  if (instantMs - nowMs <= phased.periodMs + stepLateMs) return { ...ticker, nextTickMs: instantMs };
  return { ...ticker, nextTickMs: soonestMs, returningTo: phased };
}

/** The probe of this tick had no result: it runs again as soon as possible. */
export function holdTick(ticker: Ticker): Ticker {
  return ticker.tickHeld ? ticker : { ...ticker, tickHeld: true };
}

/**
 * Tick mode, where a probe begins once a run. `probedAtMs`: when it began; absent: it was only loaded. Triggers are
 * held as usual.
 */
export function restTicker({ returningTo: _, ...ticker }: Ticker, probedAtMs?: number): Ticker {
  return { ...ticker, tickHeld: false, resting: probedAtMs === undefined ? {} : { probedAtMs } };
}

/** Tick mode: the one tick of a run. */
export function plannedTicker({ resting: _, returningTo: __, ...ticker }: Ticker, beginMs: number): Ticker {
  return { ...ticker, tickHeld: false, nextTickMs: beginMs };
}

/** A tick is at most this many periods ahead when it is set. */
const awayMax = 2;

/**
 * Wall time jumped to `nowMs`: the distance of a tick stays the same. A tick that was set after the jump moves only a
 * little.
 */
export function shiftTicker(ticker: Ticker, jumpMs: number, nowMs: number): Ticker {
  const { periodMs } = ticker;
  const shiftedMs = ticker.nextTickMs + jumpMs;
  const tooFar = Math.max(0, Math.ceil((shiftedMs - nowMs - awayMax * periodMs) / periodMs));
  const probedAtMs = ticker.resting?.probedAtMs;
  const resting = probedAtMs !== undefined && { resting: { probedAtMs: probedAtMs + jumpMs } };
  return { ...ticker, ...resting, nextTickMs: shiftedMs - tooFar * periodMs };
}

/** When there is a wake to take: now, with the next tick, or, at rest, never. */
export function dueMs(ticker: Ticker, nowMs: number): number {
  if (ticker.tickHeld || ticker.triggerHeld) return nowMs;
  return ticker.resting ? Number.POSITIVE_INFINITY : ticker.nextTickMs;
}

/** The product's phase: instants since the epoch that are `phaseMs` after a multiple of the period. */
export type Phased = { readonly phaseMs: number; readonly periodMs: number };

/**
 * Spreads probes evenly over their period, the same in every process. `hash32`: 32 bits of a hash of the probe's full
 * name.
 */
export function phaseOf(hash32: number, periodMs: number): Phased {
  return { phaseMs: hash32 % periodMs, periodMs };
}

/** The least part of a period between two probes of the ticker. */
export const gapMin = 0.9;

/** The first instant of the phase at or after `fromMs`. */
export function firstInstant(fromMs: number, { phaseMs, periodMs }: Phased): number {
  return Math.ceil((fromMs - phaseMs) / periodMs) * periodMs + phaseMs;
}

// The ticker with which a worker begins: of a new target, of a loaded one, or of one that was taken over.

/** A new target is probed at once, then at its first instant at least 0.9 period later. */
export function newTargetTicker(nowMs: number, phased: Phased): Ticker {
  const nextTickMs = firstInstant(Math.ceil(nowMs + gapMin * phased.periodMs), phased);
  return { periodMs: phased.periodMs, nextTickMs, tickHeld: true, triggerHeld: false };
}

/**
 * The previous holder has probed a loaded target, so it waits for its instant. A trigger shifts it until the next load.
 */
export function loadedTicker(nowMs: number, phased: Phased): Ticker {
  const nextTickMs = firstInstant(nowMs, phased);
  return { periodMs: phased.periodMs, nextTickMs, tickHeld: false, triggerHeld: false };
}

/** How far the clocks of two holders may differ: the same instant is that much later for one of them. */
const skewMs = 4_000;

/**
 * How late an instant may be served that passed while the shard had no holder: after a planned hand-over, and after a
 * crash.
 */
const lateMax = { plannedMs: 5_000 - skewMs, crashMs: 25_000 - skewMs } as const;

/** If the shard had no holder for longer than a planned hand-over takes, the holder has crashed, unless it said so. */
const plannedMs = 15_000;

/** `inOrder`: the last holder has ended in order; on a table without capacity that takes longer than otherwise. */
export type Unheld = { readonly sinceMs: number; readonly inOrder: boolean };

/**
 * A loaded target that may not have been probed since `unheld.sinceMs`. It probes at once if its next instant would
 * make up for a missed one too late. Otherwise it waits, so that a hand-over does not probe all targets at once.
 */
export function takenOverTicker(nowMs: number, phased: Phased, unheld: Unheld): Ticker {
  const waiting = loadedTicker(nowMs, phased);
  const missedMs = firstInstant(unheld.sinceMs, phased);
  const isPlanned = unheld.inOrder || nowMs - unheld.sinceMs <= plannedMs;
  const allowedMs = isPlanned ? lateMax.plannedMs : lateMax.crashMs;
  const tooLate = missedMs < nowMs && waiting.nextTickMs - missedMs > allowedMs;
  return tooLate ? pendingTicker(nowMs, phased) : waiting;
}

/**
 * Whether a probe off its phase (after a trigger, a clock jump or a take-over) is pending at a hand-over. The next
 * holder waits for the phase; if that is later than the next tick, it has to make the probe at once.
 */
export function isPendingAtHandover({ nextTickMs }: Ticker, nowMs: number, phased: Phased): boolean {
  return firstInstant(nowMs, phased) - nextTickMs > lateMax.plannedMs;
}

/** A loaded target whose last probe had no result: it probes at once, then returns to its phase. */
export function pendingTicker(nowMs: number, phased: Phased): Ticker {
  return { ...loadedTicker(nowMs, phased), tickHeld: true, returningTo: phased };
}
