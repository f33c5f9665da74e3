/** The parts of a run that its steps share. */
import type { Unheld } from '../core/kubelet/ticker.ts';
import { sleep } from '../lib/clock.ts';
import { StoreUnavailable } from '../store/store.ts';
import { readTarget } from '../table/targets.ts';
import { type CommitQueue, commitQueue } from './commit/queue.ts';
import type { HeldTargets } from './held-targets.ts';
import type { Inherited } from './inherited.ts';
import { readAgain } from './load.ts';
import { AgainPace } from './probing/again-pace.ts';
import type { Loop } from './probing/due-loop.ts';
import type { HeldProbe, HeldTarget } from './probing/held.ts';
import { keepSeen as keepOverdue } from './probing/probe-verdict.ts';
import { type Publisher, publisherOf } from './probing/publisher.ts';
import { adoptTarget, dropTarget, requestsPassedOn } from './probing/reconcile.ts';
import type { Run } from './run.ts';
import { type SelfWatch, selfWatch } from './self-check/self-check.ts';
import { type SurgeLimit, surgeLimitOf, surgePublisher } from './self-check/surge.ts';

export type TakenOver = {
  /** Since when, by wall time, the shard may have gone unprobed. */
  readonly unheld: Unheld;
  readonly inherited: Inherited;
};

export type Holder = {
  readonly run: Run;
  readonly commits: CommitQueue;
  readonly publisher: Publisher;
  readonly againPace: Pick<AgainPace, keyof AgainPace>;
  readonly self: SelfWatch;
  readonly surgeLimit: SurgeLimit;
  /** Publishes a surge that the bus has not taken yet. */
  publishSurge(): void;
  /** Set while the shard is being taken over; undefined once its loop runs. */
  takenOver: TakenOver | undefined;
  /** Keyed by the prefix of the target's keys. */
  readonly targets: HeldTargets;
  /** Schedules the probe for the next tick of its ticker, unless the probe is in flight. */
  schedule(held: HeldTarget, probe: HeldProbe): void;
  /** Makes the timekeeper look at the target at `dueMs`. */
  scheduleTarget(held: HeldTarget, dueMs: number): void;
  /** Reads these targets of one bucket again and adopts what others have written. */
  reread(held: readonly HeldTarget[]): Promise<void>;
  /**
   * Called when something else has changed what only the holder writes. Discards the target's state in memory and reads
   * the target again.
   */
  reload(held: HeldTarget): Promise<void>;
};

// Assembles the holder of a run from its parts, and defines how it reads a target again.

type Begun = Pick<Holder, 'targets'> & { readonly takenOver: TakenOver | undefined; readonly inDoubt: boolean };

/** The holder of a run; no probe or write is under way yet. */
export function holderOf(run: Run, loop: Loop, { targets, takenOver, inDoubt }: Begun): Holder {
  const reread = async (due: readonly HeldTarget[]) => {
    const read = await untilRead(run, () => readAgain(run, due, holder.targets));
    for (const held of due) {
      if (held.gone || run.ended()) continue;
      const found = read?.get(held.address.prefix);
      if (found) adoptTarget(holder, found, {});
      else dropTarget(holder, held);
    }
  };
  const publisher = publisherOf(run);
  const surgeLimit = surgeLimitOf(run.ports.clock, () => publishSurge());
  const publishSurge = surgePublisher(run.message, publisher, surgeLimit.surge);
  const holder: Holder = {
    run,
    commits: commitQueue(run),
    publisher,
    againPace: new AgainPace(run.ports.clock),
    self: selfWatch(run, { inDoubt, onRefused: (code) => loop.refused(code) }),
    surgeLimit,
    publishSurge,
    takenOver,
    targets,
    schedule: (held, probe) => loop.schedule(held, probe),
    scheduleTarget: (held, dueMs) => loop.scheduleTarget(held, dueMs),
    reread,
    async reload(held) {
      const read = await untilRead(run, () => readTarget(run.ports.store, held.address));
      if (held.gone || run.ended()) return;
      // Dropped only after the read: a target that was dropped and could not be read would have no holder until the
      // next full reload.
      dropTarget(holder, held);
      if (read) keepSeen(held, adoptTarget(holder, read, requestsPassedOn(held)));
    },
  };
  return holder;
}

/** A reload does not make an overdue probe fresh. */
function keepSeen(before: HeldTarget, held: HeldTarget): void {
  if (held.target.uid !== before.target.uid) return;
  for (const [name, { verdict }] of held.probes) keepOverdue(verdict, before.probes.get(name)?.verdict);
}

/** Pause after a failed read. */
const readAgainMs = 1_000;

/**
 * Repeats the read for as long as the store is unreachable. undefined: there is nothing to read, or the run has ended.
 */
async function untilRead<Answer>(run: Run, read: () => Promise<Answer>): Promise<Answer | undefined> {
  while (!run.ended()) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await sleep(run.ports.clock, readAgainMs, run.signal);
    }
  }
  return undefined;
}
