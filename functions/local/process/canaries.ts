/**
 * Canaries tell a machine whether its network works. One is a listener on loopback, which always answers. The others
 * are the endpoints given by option, or else the machine's DNS servers; these count only once they have answered,
 * because not every DNS server does over TCP.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { reachOf } from '../../../shared/core/self/health.ts';
import { parsedResolvConf, resolvConfPath } from '../../../shared/dns/resolv-conf.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { type Clock, endingClock } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import type { Resolve } from '../../../shared/net/net.ts';

const timeoutMs = 900;
/** The network may come up after this process. */
const retryMs = 60_000;

export type LocalCanaries = {
  /** Grows as canaries answer for the first time. */
  readonly list: readonly Canary[];
  close(): Promise<void>;
};

export type LocalCanaryPorts = {
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly log: Log;
  readonly wayOut: WayOut;
};

/** Endpoints beyond this machine that answer as long as the network works. */
export type WayOut =
  /** Endpoints given by the operator, which count from the start. */
  | { readonly kind: 'named'; readonly canaries: readonly Canary[] }
  /** Candidates, which count once they have answered. */
  | { readonly kind: 'found'; readonly canaries: readonly Canary[] }
  /** No probe leaves the machine, or the check is off. */
  | { readonly kind: 'none' };

export function localCanaries({ clock, resolve, log, wayOut }: LocalCanaryPorts): LocalCanaries {
  const own = endingClock(clock);
  const dial = guardedDialer({ clock: own, resolve, policy: () => true });
  const list: Canary[] = wayOut.kind === 'named' ? [...wayOut.canaries] : [];
  let closed = false;
  let cancel = (): void => undefined;

  const listener = createServer((socket) => socket.on('error', () => undefined).destroy());
  const listening = new Promise<void>((resolve) => {
    listener.once('error', () => resolve());
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      if (typeof address === 'object' && address !== null && !closed)
        list.push({ host: '127.0.0.1', port: address.port });
      resolve();
    });
  });
  listener.unref();

  const tryOut = async (candidates: readonly Canary[]) => {
    const answers = await Promise.all(candidates.map((candidate) => answersDial(candidate)));
    if (closed) return;
    list.push(...candidates.filter((_, at) => answers[at]).map((found) => ({ ...found, ofAnyRoute: true }) as const));
    const silent = candidates.filter((_, at) => !answers[at]);
    if (silent.length > 0) cancel = own.setTimer(retryMs, () => void tryOut(silent));
  };
  const answersDial = async ({ host, port }: Canary): Promise<boolean> => {
    const dialed = await dial({ host, port, deadlineMs: clock.monotonicMs() + timeoutMs, bypassesPolicy: true });
    if (dialed.kind === 'connected') dialed.socket.destroy();
    return dialed.kind === 'connected';
  };
  const findWayOut = async (candidates: readonly Canary[]) => {
    await tryOut(candidates);
    if (!closed && !list.some(({ ofAnyRoute }) => ofAnyRoute)) log.warn(noWayOut);
  };
  const trying = wayOut.kind === 'found' ? findWayOut(wayOut.canaries) : Promise.resolve();

  return {
    list,
    async close() {
      closed = true;
      cancel();
      own.end();
      await trying;
      await listening;
      await new Promise<void>((resolve) => {
        listener.close(() => resolve());
      });
    },
  };
}

const noWayOut =
  'no canary beyond this machine: if its network fails, its targets appear to fail; name an endpoint that always answers with --canary HOST:PORT';

/** Lists the upstream servers of systemd-resolved, which itself listens on loopback. */
const forwardedPath = '/run/systemd/resolve/resolv.conf';

/**
 * Returns the DNS servers beyond this machine: the configured ones, or the upstream servers of a local forwarder if
 * known.
 */
export function dnsServers(
  own = readText(resolvConfPath),
  forwarded = () => readText(forwardedPath),
): readonly Canary[] {
  const beyond = beyondLoopback(own);
  return beyond.length > 0 ? beyond : beyondLoopback(forwarded());
}

const beyondLoopback = (text: string): readonly Canary[] =>
  parsedResolvConf(text).servers.flatMap(({ address, port }) =>
    reachOf(address) === 'loopback' ? [] : [{ host: address, port }],
  );

/** A file that cannot be read lists no servers. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
