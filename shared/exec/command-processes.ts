/**
 * Tracks every process that a command starts, including those that leave its process group, by an environment variable
 * that each inherits and that is unique to the command. Node can neither become the parent of orphans
 * (PR_SET_CHILD_SUBREAPER) nor start a process in a cgroup.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, sleep } from '../lib/clock.ts';
import { pacer } from '../lib/slices.ts';
import { descendantsOf, exists, lastNumber, processNumbers, startedWith } from './proc.ts';

export type CommandProcesses = {
  begin(): OneCommand;
  /** Kills all processes of all commands, running or left over. Returns when each has been sent the signal. */
  killAll(): void;
};

export type OneCommand = {
  /** Variables to add to the command's environment. */
  readonly variables: Readonly<Record<string, string>>;
  started(pid: number | undefined): void;
  /** Kills the process group and its descendants, without a search through all processes. */
  kill(): void;
  /**
   * Call when the command has ended or been killed. Kills the processes that it left, in the background if that takes a
   * search.
   */
  end(): void;
};

/** Its value is all that a command learns about the prober. */
export const markName = 'PROBELET_EXEC';

/**
 * If at most this many pids were assigned since the command's own, each is looked up directly, in a few microseconds.
 */
const numbersMax = 64;
/** Within this time no machine can wrap around its process ids, of which there are at least 32,768. */
const lapMsMin = 500;
/** A search takes some 10 µs for each process on the machine, so it runs in slices and at most four times a second. */
const searchIntervalMs = 250;
const sliceMs = 2;
/**
 * The number of searches for one command. A killed process may have started others before, and the kernel can delay a
 * kill.
 */
const searchesMax = 20;
/** For one command, when it is killed. */
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

/** Searches all processes for those left over by several commands at once, until none is found. */
function leftovers(clock: Clock): Leftovers {
  /** The number of searches for each mark. */
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

/**
 * The usual case: every process that the command started has a pid between its own and the last one assigned, and none
 * is left. Returns false if a full search is needed.
 */
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

/**
 * Sends SIGKILL. A negative pid addresses a process group, which keeps its leader's pid as long as any member lives.
 * Does nothing if no process is left or it belongs to another user.
 */
function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
