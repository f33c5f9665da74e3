/** Assembles the holder of a run from its parts, and defines how it reads a target again. */
import { sleep } from '../lib/clock.ts';
import { StoreUnavailable } from '../store/store.ts';
import { readTarget } from '../table/targets.ts';
import { commitQueue } from './commit/queue.ts';
import type { Holder, TakenOver } from './holder.ts';
import { readAgain } from './load.ts';
import { AgainPace } from './probing/again-pace.ts';
import type { Loop } from './probing/due-loop.ts';
import type { HeldTarget } from './probing/held.ts';
import { keepSeen as keepOverdue } from './probing/probe-verdict.ts';
import { publisherOf } from './probing/publisher.ts';
import { adoptTarget, dropTarget, requestsPassedOn } from './probing/reconcile.ts';
import type { Run } from './run.ts';
import { surgeLimitOf, surgePublisher } from './self-check/surge.ts';
import { selfWatch } from './self-check/verdict.ts';

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
