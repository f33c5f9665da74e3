/**
 * runloop.jsonl: when a worker probes. Explores every choice that Go leaves to chance; the set of outcomes is exact.
 */
import {
  dueMs,
  holdTrigger,
  newTargetTicker,
  passTime,
  readyWakes,
  type Ticker,
  takeWake,
} from '../../shared/core/kubelet/ticker.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type RunloopVector = {
  readonly periodSeconds: number;
  readonly probeDurationsMs: readonly number[];
  readonly triggersMs?: readonly number[];
  readonly stopMs: number;
  readonly truncatedAtStop?: boolean;
  readonly expectAnyOf: readonly Outcome[];
};

type Outcome = { readonly probeStartsMs: readonly number[]; readonly exitMs: number | null };

type Loop = {
  readonly nowMs: number;
  readonly ticker: Ticker;
  /** How many of the triggers have come. */
  readonly triggered: number;
  readonly startsMs: readonly number[];
};

export const runRunloop: VectorRunner = (vector) => {
  const recorded = vector as unknown as RunloopVector;
  const periodMs = recorded.periodSeconds * 1000;
  // The vectors begin when kubelet has run for a period: its random delay is over, and the phase is the worker's start.
  const ticker = newTargetTicker(0, { phaseMs: 0, periodMs });
  const loop: Loop = { nowMs: 0, ticker, triggered: 0, startsMs: [] };
  return compare('outcomes', sorted(choose(recorded, loop)), sorted(recorded.expectAnyOf));
};

const sorted = (outcomes: readonly Outcome[]): readonly string[] =>
  [...new Set(outcomes.map(({ probeStartsMs, exitMs }) => JSON.stringify({ probeStartsMs, exitMs })))].sort();

/** Everything that can follow when the worker looks at what is ready. */
function choose(vector: RunloopVector, loop: Loop): readonly Outcome[] {
  const ready = readyWakes(loop.ticker);
  const stopping = vector.truncatedAtStop !== true && loop.nowMs >= vector.stopMs;
  if (ready.length === 0 && !stopping) return choose(vector, pass(vector, loop, nextInstant(vector, loop)));
  const stopped = stopping ? [{ probeStartsMs: loop.startsMs, exitMs: loop.nowMs }] : [];
  const probed = ready.flatMap((wake) => probe(vector, { ...loop, ticker: takeWake(loop.ticker, wake, loop.nowMs) }));
  return [...stopped, ...probed];
}

function probe(vector: RunloopVector, loop: Loop): readonly Outcome[] {
  if (vector.truncatedAtStop === true && loop.nowMs >= vector.stopMs)
    return [{ probeStartsMs: loop.startsMs, exitMs: null }];
  const durationMs = vector.probeDurationsMs[loop.startsMs.length % vector.probeDurationsMs.length] ?? 0;
  const started = { ...loop, startsMs: [...loop.startsMs, loop.nowMs] };
  return choose(vector, pass(vector, started, loop.nowMs + durationMs));
}

function pass(vector: RunloopVector, loop: Loop, nowMs: number): Loop {
  const triggered = (vector.triggersMs ?? []).filter((triggerMs) => triggerMs <= nowMs).length;
  const ticker = passTime(loop.ticker, nowMs);
  return { ...loop, nowMs, triggered, ticker: triggered > loop.triggered ? holdTrigger(ticker) : ticker };
}

function nextInstant(vector: RunloopVector, loop: Loop): number {
  const triggerMs = vector.triggersMs?.[loop.triggered] ?? Number.POSITIVE_INFINITY;
  const stopMs = vector.truncatedAtStop === true ? Number.POSITIVE_INFINITY : vector.stopMs;
  return Math.min(dueMs(loop.ticker, loop.nowMs), triggerMs, stopMs);
}
