/**
 * Whether this process still waits for anything but a clock: open sockets (the prober's end and the test server's),
 * processes, pipes. Servers and commands that leave a probe unanswered on purpose say so, or time would stand still for
 * ever.
 */
import { turnOfTheLoop } from './virtual-clock.ts';

/** What stays open on purpose, in ends: a connection within this process has two sockets. */
export type Unanswered = {
  /** Returns what takes it back; idempotent. */
  hold(ends: Ends): () => void;
  /** Counted again each time, for what ends by itself. */
  watch(count: () => Ends): void;
  total(): Required<Ends>;
};

export type Ends = { readonly sockets?: number; readonly processes?: number; readonly pipes?: number };

export function unansweredBook(): Unanswered {
  const held = new Set<Ends>();
  const watched: (() => Ends)[] = [];
  return {
    hold(ends) {
      const entry = { ...ends };
      held.add(entry);
      return () => {
        held.delete(entry);
      };
    },
    watch(count) {
      watched.push(count);
    },
    total: () => [...held, ...watched.map((count) => count())].reduce(sum, none),
  };
}

const none: Required<Ends> = { sockets: 0, processes: 0, pipes: 0 };

const sum = (total: Required<Ends>, ends: Ends): Required<Ends> => ({
  sockets: total.sockets + (ends.sockets ?? 0),
  processes: total.processes + (ends.processes ?? 0),
  pipes: total.pipes + (ends.pipes ?? 0),
});

/** So many turns in a row have to look quiet: what a closed socket calls back comes a turn or two later. */
const quietTurns = 4;
/** After so many turns the wait is for another process, which needs the CPU. */
const busyTurnsMax = 200;
const restMs = 1;
/** Real time. Nothing on loopback takes this long, whatever else the machine does. */
const giveUpMs = 60_000;

/** What `virtualClock` waits for between its timers. What is open when this is called counts as the process's own. */
export function quietProcess(unanswered: Unanswered): () => Promise<void> {
  // Made on first use, and then they count.
  void [process.stdout, process.stderr];
  const own = openEnds();
  const isQuiet = () => same(openEnds(), sum(own, unanswered.total()));
  return async () => {
    const startedMs = performance.now();
    let quiet = 0;
    for (let turn = 0; quiet < quietTurns; turn += 1) {
      await (turn < busyTurnsMax ? turnOfTheLoop() : rest());
      quiet = isQuiet() ? quiet + 1 : 0;
      if (performance.now() - startedMs > giveUpMs) throw new Error(`never quiet: ${describe(own, unanswered)}`);
    }
  };
}

const rest = () => new Promise<void>((resolve) => setTimeout(resolve, restMs));

const kinds: Readonly<Record<string, keyof Ends>> = {
  TCPSocketWrap: 'sockets',
  ConnectWrap: 'sockets',
  ProcessWrap: 'processes',
  PipeWrap: 'pipes',
};

function openEnds(): Required<Ends> {
  const counts = { ...none };
  for (const resource of process.getActiveResourcesInfo()) {
    const kind = kinds[resource];
    // A socket that connects is listed twice, so it never looks quiet.
    if (kind) counts[kind] += 1;
  }
  return counts;
}

const same = (a: Required<Ends>, b: Required<Ends>): boolean =>
  a.sockets === b.sockets && a.processes === b.processes && a.pipes === b.pipes;

const describe = (own: Required<Ends>, unanswered: Unanswered): string =>
  JSON.stringify({ open: openEnds(), own, unanswered: unanswered.total() });
