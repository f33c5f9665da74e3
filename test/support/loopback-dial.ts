/** The real dialer for probes of address literals on this machine. */
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { Dial } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';

export const loopbackDialer = (clock: Clock): Dial =>
  guardedDialer({
    resolve: async (host) => ({ kind: 'resolved', addresses: [host] }),
    policy: dialPolicy({ mode: 'local' }),
    clock,
  });

export const loopbackDial: Dial = loopbackDialer(systemClock);
