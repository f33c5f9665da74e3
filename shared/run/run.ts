/** One run of a shard: its claim, its lease, and the one place that says whether it is still in force. */
import type { ShardMessage } from '../queue/queue.ts';
import type { Ports } from './ports.ts';

/** How a run ended, and so what becomes of its message (shared/run/host.ts). */
export type RunEnd =
  /** The slot is over: the message is done. */
  | { readonly kind: 'slotDone' }
  /** The message's slot is over or done, or its generation old: nothing was claimed. The message is done. */
  | { readonly kind: 'stale' }
  /** The shard has another range by now; its new message is under way. The message is done. */
  | { readonly kind: 'moved' }
  /** Its successor asked for it. The message is done. */
  | { readonly kind: 'asked' }
  /** A higher token is there. The message is done, if its handle still counts. */
  | { readonly kind: 'fenced' }
  /** Left early and in order, for another process to go on with the same message at once. */
  | { readonly kind: 'handover' }
  /** Not acknowledged: somebody else may hold the message by now, and deleting it would delete theirs. */
  | { readonly kind: 'doubt'; readonly reason: string };

export type Run = {
  readonly ports: Ports;
  readonly message: ShardMessage;
  readonly token: number;
  /** The version of LAYOUT under which the token was taken: an older one says nothing about this run. */
  readonly layoutVersion: number;
  /** When the lease was first set, monotonic. */
  readonly startedAtMs: number;
  readonly release: string;
  /** How far this process's wall clock is ahead of the schedule's, whose slots they are. */
  readonly aheadMs: number;
  /** Aborted when the run has ended: every wait of the run listens to it. */
  readonly signal: AbortSignal;
  ended(): RunEnd | undefined;
  /** Ends the run at once; the first end counts. */
  end(end: RunEnd): void;
  /** Ends the run in order: nothing new begins, what counts is written, then it ends like this. The first wish counts. */
  leave(end: RunEnd): void;
  /** Aborted when the run has ended or wants to. */
  readonly leaving: AbortSignal;
  /** How the run is to end in order. */
  wish(): RunEnd | undefined;
  /** A beat that began then (monotonic) has succeeded. */
  confirm(startedAtMs: number): void;
  /** When the last beat that succeeded began, monotonic; before the first one, when the lease was set. */
  confirmedAtMs(): number;
  /**
   * May the run still write and publish? Asked right before each write. Between a pause of the process and its first timer nobody else
   * would ask, so this ends the run when its last successful beat began too long ago.
   */
  inForce(): boolean;
};

/** After this long without a successful beat (counted from its start) nothing more is written or published. */
const selfFenceMs = 12_000;

export type RunStart = Pick<
  Run,
  'ports' | 'message' | 'token' | 'layoutVersion' | 'startedAtMs' | 'release' | 'aheadMs'
>;

export function startRun({ ports, message, token, layoutVersion, startedAtMs, release, aheadMs }: RunStart): Run {
  const { clock, log } = ports;
  const abort = new AbortController();
  let confirmedAtMs = startedAtMs;
  const leave = new AbortController();
  let ended: RunEnd | undefined;
  let wish: RunEnd | undefined;
  const end = (given: RunEnd) => {
    if (ended) return;
    ended = given;
    if (given.kind === 'doubt' || given.kind === 'fenced')
      log.warn('run ended', { shard: message.shard, token, end: given });
    abort.abort();
    leave.abort();
  };
  return {
    ports,
    message,
    token,
    layoutVersion,
    startedAtMs,
    release,
    aheadMs,
    signal: abort.signal,
    ended: () => ended,
    end,
    leaving: leave.signal,
    wish: () => wish,
    leave(given) {
      wish ??= given;
      leave.abort();
    },
    confirm(startedAtMs) {
      confirmedAtMs = startedAtMs;
    },
    confirmedAtMs: () => confirmedAtMs,
    inForce() {
      if (!ended && clock.monotonicMs() - confirmedAtMs > selfFenceMs)
        end({ kind: 'doubt', reason: 'no successful beat for 12 s' });
      return !ended;
    },
  };
}
