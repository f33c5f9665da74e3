/** Probes that are due and wait for a socket. */
import { type BacklogClass, descriptorsOf, servedInOrder } from '../../core/self/sockets.ts';
import type { HeldProbe, HeldTarget } from './held.ts';
import type { SocketBudget } from './sockets.ts';

export type Waiting = { readonly held: HeldTarget; readonly probe: HeldProbe; readonly arrival: number };

export type WaitingLines = {
  /** A probe that already waits keeps its position. */
  join(held: HeldTarget, probe: HeldProbe): void;
  leave(probe: HeldProbe): void;
  isEmpty(): boolean;
  /** The probe that may begin next: the first one of the best group for which there is a socket. */
  next(): Waiting | undefined;
  /** Whether a waiting probe comes before one of this backlog class that has only now become due. */
  hasBefore(backlogClass: BacklogClass): boolean;
};

export function waitingLines(socketBudget: Pick<SocketBudget, 'hasFor'>): WaitingLines {
  let arrivals = 0;
  const lines: { readonly [backlogClass in BacklogClass]: Map<HeldProbe, Waiting> } = {
    steady: new Map(),
    new: new Map(),
    hanging: new Map(),
  };
  /** True almost always. This spares each probe that begins a search through the lines. */
  const isEmpty = () => lines.steady.size + lines.new.size + lines.hanging.size === 0;
  /** The first entry of a line that still has to be probed. */
  const firstOf = (backlogClass: BacklogClass): Waiting | undefined => {
    for (const waiting of lines[backlogClass].values()) {
      if (!isGone(waiting)) return waiting;
      lines[backlogClass].delete(waiting.probe);
    }
    return undefined;
  };
  const nextOf = (group: readonly BacklogClass[]) =>
    group
      .flatMap((backlogClass) => firstOf(backlogClass) ?? [])
      .filter(({ probe }) => socketBudget.hasFor(probe.schedule.backlogClass, descriptorsOf(probe.spec.probe)))
      .reduce<Waiting | undefined>(
        (first, other) => (first && first.arrival < other.arrival ? first : other),
        undefined,
      );
  const firstIn = (groups: readonly (readonly BacklogClass[])[]) => {
    for (const group of groups) {
      const next = nextOf(group);
      if (next) return next;
    }
    return undefined;
  };
  return {
    join(held, probe) {
      const line = lines[probe.schedule.backlogClass];
      if (line.has(probe)) return;
      arrivals += 1;
      line.set(probe, { held, probe, arrival: arrivals });
    },
    leave: (probe) => void lines[probe.schedule.backlogClass].delete(probe),
    isEmpty,
    next: () => firstIn(servedInOrder),
    hasBefore: (backlogClass) => !isEmpty() && firstIn(servedBefore(backlogClass)) !== undefined,
  };
}

/** Groups whose waiting probes come before a probe of this class that has only now become due. */
const servedBefore = (backlogClass: BacklogClass): readonly (readonly BacklogClass[])[] =>
  servedInOrder.slice(0, servedInOrder.findIndex((group) => group.includes(backlogClass)) + 1);

const isGone = ({ held, probe }: Waiting): boolean =>
  held.gone || probe.schedule.inFlight || held.probes.get(probe.name) !== probe;
