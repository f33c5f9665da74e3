/** Logs, once a minute, which limit of the prober's own machine refuses sockets or commands, and how to raise it. */
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

type Limit = { readonly limit: string; readonly raise: string };

const ports: Limit = {
  limit: 'local ports for one peer, or no local address of its family',
  raise: 'sysctl net.ipv4.ip_local_port_range, or longer periods',
};
const memory: Limit = { limit: 'memory of the machine or of its control group', raise: 'give it more memory' };

/** What EAGAIN means for a command. */
const processes: Limit = {
  limit: 'RLIMIT_NPROC or pids.max, the processes of this user or control group',
  raise: 'ulimit -u, LimitNPROC= or TasksMax= of systemd, or pids_limit of Compose',
};

/** By system error code, for sockets. */
const limits: Readonly<Record<string, Limit>> = {
  EMFILE: {
    limit: 'RLIMIT_NOFILE, the descriptors of this process',
    raise: 'ulimit -n, LimitNOFILE= of systemd, or ulimits of Compose',
  },
  ENFILE: { limit: 'fs.file-max, the descriptors of the machine', raise: 'sysctl fs.file-max' },
  EADDRNOTAVAIL: ports,
  EAGAIN: ports,
  ENOBUFS: memory,
  ENOMEM: memory,
};

const lineIntervalMs = 60_000;

/**
 * Returns a function to call with the error code of each failed dial, or of each command that did not start. Codes that
 * say nothing about the limits of this machine are ignored.
 */
export function shortageLog(clock: Clock, log: Log, of: 'socket' | 'command' = 'socket'): (code: string) => void {
  /** By code: when the last line was written, and how many sockets were refused since. */
  const seen = new Map<string, { atMs: number; refused: number }>();
  return (code) => {
    const known = Object.hasOwn(limits, code) ? limits[code] : undefined;
    if (!known) return;
    const found = of === 'command' && code === 'EAGAIN' ? processes : known;
    const nowMs = clock.monotonicMs();
    const last = seen.get(code) ?? { atMs: Number.NEGATIVE_INFINITY, refused: 0 };
    seen.set(code, last);
    last.refused += 1;
    if (nowMs - last.atMs < lineIntervalMs) return;
    log.warn(`${of} refused by the machine`, { code, ...found, refused: last.refused });
    last.atMs = nowMs;
    last.refused = 0;
  };
}
