/** One run of a shard: its claim, its deadline, and the one place that says whether it is still in force. */
import type { ShardMessage } from '../queue/queue.ts';
import type { Ports } from './ports.ts';

/** How a run ended. `doubt` must not acknowledge its message: somebody else may hold it by now. */
export type RunEnd =
  | { readonly kind: 'slotDone' }
  | { readonly kind: 'stopped' }
  /** The message's slot is over, its generation old: nothing was claimed. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'doubt'; readonly reason: string };

export type Run = {
  readonly ports: Ports;
  readonly message: ShardMessage;
  readonly token: number;
  /** Aborted when the run has ended: every wait of the run listens to it. */
  readonly signal: AbortSignal;
  ended(): RunEnd | undefined;
  /** The first end counts. */
  end(end: RunEnd): void;
};

export function startRun(ports: Ports, message: ShardMessage, token: number): Run {
  const abort = new AbortController();
  let ended: RunEnd | undefined;
  return {
    ports,
    message,
    token,
    signal: abort.signal,
    ended: () => ended,
    end(end) {
      if (ended) return;
      ended = end;
      if (end.kind === 'doubt' || end.kind === 'fenced')
        ports.log.warn('run ended', { shard: message.shard, token, end });
      abort.abort();
    },
  };
}
