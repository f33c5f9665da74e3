/**
 * What tells a machine whether its own network is all right, without being told: a listener of its own on loopback, which always
 * answers, and whoever is on its way out, its DNS servers by default. Those count once they have answered: not every one does over TCP.
 */
import { getServers } from 'node:dns';
import { createServer } from 'node:net';
import { type Clock, endingClock } from '../../shared/lib/clock.ts';
import type { Canary } from '../../shared/manager/ports.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { Resolve } from '../../shared/net/net.ts';

const dnsPort = 53;
const timeoutMs = 900;
/** A machine may start before its network does. */
const retryMs = 60_000;

export type LocalCanaries = {
  /** Grows as canaries turn up. */
  readonly list: readonly Canary[];
  close(): Promise<void>;
};

export type LocalCanaryPorts = {
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly wayOut: readonly Canary[];
};

export function localCanaries({ clock, resolve, wayOut }: LocalCanaryPorts): LocalCanaries {
  const own = endingClock(clock);
  const dial = guardedDialer({ clock: own, resolve, policy: () => true });
  const list: Canary[] = [];
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
    list.push(...candidates.filter((_, at) => answers[at]));
    const silent = candidates.filter((_, at) => !answers[at]);
    if (silent.length > 0) cancel = own.setTimer(retryMs, () => void tryOut(silent));
  };
  const answersDial = async ({ host, port }: Canary): Promise<boolean> => {
    const dialed = await dial({ host, port, deadlineMs: clock.monotonicMs() + timeoutMs, own: true });
    if (dialed.kind === 'connected') dialed.socket.destroy();
    return dialed.kind === 'connected';
  };
  const trying = tryOut(wayOut);

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

/** `address`, `address:port` or `[address]:port`, as c-ares has them. One on loopback is a forwarder: it says nothing of the way out. */
export function dnsServers(): readonly Canary[] {
  return getServers().flatMap((server) => {
    const [, bracketed, plain] = /^(?:\[(.+)\](?::\d+)?|([^:]+)(?::\d+)?|.+)$/.exec(server) ?? [];
    const host = bracketed ?? plain ?? server;
    return /^(127\.|::1$)/.test(host) ? [] : [{ host, port: dnsPort }];
  });
}
