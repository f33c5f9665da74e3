/**
 * The beat of a run: every 5 s RUN says that the shard is held and how far its probes are, on condition of the run's token. A lost
 * token, a refused lease or 12 s without a successful beat ends the run: whoever is in doubt stops.
 */
import { sleep } from '../lib/clock.ts';
import { QueueUnavailable } from '../queue/queue.ts';
import { layoutKey, runKey } from '../store/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { generationAttribute } from './claim.ts';
import type { Run } from './run.ts';

export const beatIntervalMs = 5_000;
/** After a beat that failed. */
const retryMs = 500;
export const visibilityMs = 15_000;

export type BeatState = {
  /** When the loop last had no due probe left, ms since the epoch. */
  readonly observedAtMs: number;
  readonly late: readonly string[];
};

/** Beats until the run ends. A beat that failed is tried again soon: two in a row may not cost the lease. */
export async function keepBeating(run: Run, observe: () => BeatState): Promise<void> {
  const { clock } = run.ports;
  let pauseMs = beatIntervalMs;
  for (let beat = 1; !run.ended(); beat += 1) {
    await sleep(clock, pauseMs, run.signal);
    if (!run.inForce()) return;
    const startedAtMs = clock.monotonicMs();
    const beaten = await beatOnce(run, beat, observe());
    if (beaten) run.confirm(startedAtMs);
    pauseMs = beaten ? beatIntervalMs : retryMs;
  }
}

/** true: the lease, the token and the generation are still the run's. */
async function beatOnce(run: Run, beat: number, state: BeatState): Promise<boolean> {
  try {
    if (!(await run.ports.lease.extend(visibilityMs))) run.end({ kind: 'doubt', reason: 'the lease was refused' });
    else if (run.inForce() && !(await writeBeat(run, beat, state, {}))) run.end({ kind: 'fenced' });
    else if (run.inForce()) await followLayout(run);
    return !run.ended();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) && !(error instanceof QueueUnavailable)) throw error;
    run.ports.log.warn('beat not written', { shard: run.message.shard, cause: error.message });
    return false;
  }
}

/** false: another token stands in RUN. */
export async function writeBeat(
  run: Run,
  beat: number,
  state: BeatState,
  more: { readonly doneSlot?: number },
): Promise<boolean> {
  const outcome = await run.ports.store.write(
    [
      {
        kind: 'update',
        key: runKey(run.message.shard),
        set: { beat, observedAtMs: state.observedAtMs, late: state.late, ...more },
        if: [{ kind: 'equals', attribute: 'token', value: run.token }],
      },
    ],
    { token: run.ports.random.uuid() },
  );
  // A beat in doubt harms nothing: the next one follows, and the self-fence counts.
  return outcome.kind !== 'refused' || outcome.refusals.some((refusal) => refusal.kind === 'conflict');
}

/** A new generation of the shard ends the run; so does another release, in order and not all shards at once. */
async function followLayout(run: Run): Promise<void> {
  const layout = await run.ports.store.get(layoutKey, { eventuallyConsistent: true });
  if (layout === undefined) return;
  if (layout[generationAttribute(run.message.shard)] !== run.message.generation) run.end({ kind: 'moved' });
}
