/** What the beats of a run say of its probes. */
import type { BeatState, Beats } from './beat.ts';
import { doubtTeller } from './doubt-events.ts';
import type { Holder } from './holder.ts';
import type { Loop } from './loop.ts';
import type { Inherited } from './predecessors.ts';
import { observedNow } from './seen.ts';

/**
 * `observedAtMs` stands still while a due probe has not begun, and while the prober doubts itself, since its probes are void then. Probes
 * that have not been done for long are named with the time when they were. Until the shard is loaded both are as the run before left them.
 */
export function beatsOf(holder: Holder, loop: Loop, inherited: Inherited): Beats {
  const { clock } = holder.run.ports;
  const tick = holder.run.message.mode === 'tick';
  const teller = doubtTeller(holder, inherited);
  let { observedAtMs } = inherited;
  const observed = () =>
    holder.takenOver
      ? { observedAtMs, behind: inherited.behind, late: 0 }
      : observedNow(holder.targets.values(), { nowMs: clock.nowMs(), tick, observedAtMs });
  const observe = (): BeatState => {
    const health = holder.self.health();
    if (!holder.takenOver && !loop.behind() && health.kind !== 'doubtful') observedAtMs = clock.nowMs();
    const doubt = health.kind === 'doubtful' && { reason: health.reason, sinceMs: health.sinceMs };
    return { ...observed(), degradedTold: teller.told(doubt !== false), ...(doubt && { doubt }) };
  };
  const written = async (state: BeatState) => {
    holder.publishSurge();
    await teller.written(state);
  };
  return { observe, written };
}
