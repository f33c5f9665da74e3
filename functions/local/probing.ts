/** This machine's network and commands, as the probers of one process use them. */
import type { AllowList } from '../../shared/exec/allow-list.ts';
import { localRunner } from '../../shared/exec/local.ts';
import { type Clock, endingClock } from '../../shared/lib/clock.ts';
import type { Canary, Ports } from '../../shared/manager/ports.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { DialPolicy } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { localCanaries } from './canaries.ts';
import { environmentSecret } from './environment-secret.ts';

export type ProbingOptions = {
  readonly clock: Clock;
  readonly allowExec?: AllowList;
  /** What may be dialed and who is asked for names; default: what a single machine allows, and its own DNS servers. */
  readonly network?: { readonly policy: DialPolicy; readonly dnsServers: readonly string[] };
  /** Whoever is on the machine's way out to its targets, and answers for as long as that is there. */
  readonly wayOut?: readonly Canary[];
};

export type Probing = Pick<Ports, 'resolve' | 'canaries'> & {
  /** What each run has for itself, so that it can end what it began. */
  readonly forRun: () => Pick<Ports, 'dial' | 'probers' | 'abandon'>;
  close(): Promise<void>;
};

export function localProbing({ clock, allowExec, network, wayOut = [] }: ProbingOptions): Probing {
  const resolve = resolver({ clock, ...(network && { servers: network.dnsServers }) });
  const policy = network?.policy ?? dialPolicy({ mode: 'local' });
  const canaries = localCanaries({ clock, resolve, wayOut });
  return {
    resolve,
    canaries: canaries.list,
    forRun() {
      const own = endingClock(clock);
      const dial = guardedDialer({ resolve, policy, clock: own });
      const run = localRunner({ clock: own, ...(allowExec && { allows: allowExec }) });
      const probers = proberRegistry({ dial, clock: own, run, resolveSecret: environmentSecret });
      return { dial, probers, abandon: own.end };
    },
    close: () => canaries.close(),
  };
}
