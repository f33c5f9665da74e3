/**
 * The TLS sessions that servers have given, for a deployment that resumes them instead of making a full handshake for
 * each probe (record 69). No certificate is verified in either, so a resumed connection is trusted no more and no less.
 */
import type { Clock } from '../../lib/clock.ts';

/** Limit for all sessions of a process, with the memory around each: about 14,000 of ordinary servers. */
const sessionsBytesMax = 32 * 1024 * 1024;
/** What the key, the buffer and the entry take beside the session itself. */
const entryBytes = 512;
/** Limit for one session: a ticket and the server's own certificate. A larger one is not kept. */
const sessionBytesMax = 8 * 1024;
/** A server on which a connection with a session failed gets full handshakes for so long. */
const pausedForMs = 3_600_000;

/** One for each process. */
export type TlsSessions = {
  /** For one handshake with the server that has this key. */
  readonly open: (server: string) => Resumption;
};

export type Resumption = {
  /** What to offer to the server; undefined: a full handshake. */
  readonly session: Buffer | undefined;
  /** Call with each session that the server gives. The last one is kept. */
  readonly keep: (session: Buffer) => void;
  /** Call when a connection that offered `session` has failed: the server is offered none for an hour. */
  readonly failed: () => void;
};

type Entry =
  | { readonly kind: 'session'; readonly session: Buffer }
  | { readonly kind: 'paused'; readonly untilMs: number };

/** `clock`: the process's, because sessions outlive a run. */
export function tlsSessions({ monotonicMs }: Pick<Clock, 'monotonicMs'>): TlsSessions {
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  let bytesKept = 0;

  const forget = (server: string): void => {
    const entry = entries.get(server);
    if (!entry) return;
    entries.delete(server);
    bytesKept -= bytesOf(entry);
  };
  const remember = (server: string, entry: Entry): void => {
    forget(server);
    entries.set(server, entry);
    bytesKept += bytesOf(entry);
    for (const oldest of entries.keys()) {
      if (bytesKept <= sessionsBytesMax) return;
      forget(oldest);
    }
  };
  const isPaused = (server: string): boolean => {
    const entry = entries.get(server);
    return entry?.kind === 'paused' && entry.untilMs > monotonicMs();
  };
  return {
    open(server) {
      const entry = entries.get(server);
      const session = entry?.kind === 'session' ? entry.session : undefined;
      if (entry && session) remember(server, entry);
      return {
        session,
        keep(given) {
          if (given.length <= sessionBytesMax && !isPaused(server))
            remember(server, { kind: 'session', session: given });
        },
        failed: () => remember(server, { kind: 'paused', untilMs: monotonicMs() + pausedForMs }),
      };
    },
  };
}

const bytesOf = (entry: Entry): number => entryBytes + (entry.kind === 'session' ? entry.session.length : 0);
