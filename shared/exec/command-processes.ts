/**
 * Every process that a command starts, also those that leave its process group: each inherits a variable that no other probe knows.
 * Node can neither become the parent of orphans (PR_SET_CHILD_SUBREAPER) nor start a process in a cgroup.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, sleep } from '../lib/clock.ts';
import { pacer } from '../lib/pace.ts';
import { descendantsOf, exists, lastNumber, processNumbers, startedWith } from './proc.ts';

export type CommandProcesses = {
  begin(): OneCommand;
  /** Kills everything that any command has left or still runs. Returns when all have been sent the signal. */
  killAll(): void;
};

export type OneCommand = {
  /** To be put into the environment of the command. */
  readonly variables: Readonly<Record<string, string>>;
  started(pid: number | undefined): void;
  /** The process group, and what its members have started. Needs no look at other processes. */
  kill(): void;
  /** The command has ended or been killed: what is left of it ends, in the background where that takes a search. */
  end(): void;
};

/** Its value is all that a command learns of the prober. */
export const markName = 'PROBELET_EXEC';

/** Numbers that a short command can have taken are looked up one by one; that costs a few microseconds each. */
const numbersMax = 64;
/** In less time no machine hands out all process numbers (at least 32,768 of them) and begins anew. */
const lapMsMin = 500;
/** A search of all processes takes some 10 µs for each: at most four a second, in slices. */
const searchIntervalMs = 250;
const sliceMs = 2;
/** How often one command's processes are looked for: what is killed may have started others. The kernel can hold one that is killed. */
const searchesMax = 20;
/** Of one command, when it is killed. */
const descendantsMax = 10_000;

export function commandProcesses(clock: Clock): CommandProcesses {
  const running = new Map<string, OneCommand>();
  const left = leftovers(clock);
  return {
    begin() {
      const mark = randomUUID();
      const sinceMs = clock.monotonicMs();
      const command = oneCommand(mark, (leader) => {
        running.delete(mark);
        if (!endedAtOnce(mark, leader, clock.monotonicMs() - sinceMs)) left.search(mark);
      });
      running.set(mark, command);
      return command;
    },
    killAll() {
      for (const command of running.values()) command.kill();
      const isOurs = (mark: string) => running.has(mark) || left.has(mark);
      if (running.size + left.size() > 0) for (const pid of processNumbers()) killIf(pid, isOurs);
      left.clear();
    },
  };
}

type Leftovers = {
  search(mark: string): void;
  has(mark: string): boolean;
  size(): number;
  clear(): void;
};

/** Looks through all processes for what is left of several commands at once, until nothing more is found. */
function leftovers(clock: Clock): Leftovers {
  /** How often each has been looked for. */
  const sought = new Map<string, number>();
  let isSearching = false;
  let nextSearchMs = Number.NEGATIVE_INFINITY;

  async function searchOnce(): Promise<void> {
    const missed = new Set(sought.keys());
    const pace = pacer(clock, sliceMs);
    for (const pid of processNumbers()) {
      await pace();
      const mark = killIf(pid, (value) => sought.has(value));
      if (mark !== undefined) missed.delete(mark);
    }
    for (const [mark, searches] of sought) {
      if (missed.has(mark) || searches >= searchesMax) sought.delete(mark);
      else sought.set(mark, searches + 1);
    }
  }

  async function searchAll(): Promise<void> {
    while (sought.size > 0) {
      await sleep(clock, Math.max(0, nextSearchMs - clock.monotonicMs()));
      nextSearchMs = clock.monotonicMs() + searchIntervalMs;
      await searchOnce();
    }
    isSearching = false;
  }

  return {
    search(mark) {
      sought.set(mark, 0);
      if (isSearching) return;
      isSearching = true;
      void searchAll();
    },
    has: (mark) => sought.has(mark),
    size: () => sought.size,
    clear: () => sought.clear(),
  };
}

function oneCommand(mark: string, onEnd: (leader: number) => void): OneCommand {
  let leader: number | undefined;
  const kill = () => {
    if (leader === undefined) return;
    const started = descendantsOf(leader, descendantsMax);
    killed(-leader);
    for (const pid of started) killed(pid);
  };
  return {
    variables: { [markName]: mark },
    started(pid) {
      leader = pid;
    },
    kill,
    end() {
      if (leader !== undefined) killed(-leader);
      onEnd(leader ?? 0);
    },
  };
}

/** The usual command: whatever it started has a number between its own and the one that was given last, and there is none. */
function endedAtOnce(mark: string, leader: number, tookMs: number): boolean {
  if (leader === 0) return true;
  const last = lastNumber();
  if (last === undefined || last < leader || last - leader > numbersMax || tookMs >= lapMsMin) return false;
  let isAll = true;
  for (let pid = leader + 1; pid <= last; pid += 1)
    if (exists(pid) && killIf(pid, (value) => value === mark) !== undefined) isAll = false;
  return isAll;
}

function killIf(pid: number, isSought: (mark: string) => boolean): string | undefined {
  const mark = startedWith(pid, markName);
  if (mark === undefined || !isSought(mark)) return undefined;
  killed(pid);
  return mark;
}

/** A group has its leader's number for as long as any of its processes is left. None left, or not ours to kill: nothing to be done. */
function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
