/** This machine's network and commands, as the probers of one process use them. */
import type { SecretHosts } from '../../shared/core/secret-hosts.ts';
import type { AllowList } from '../../shared/exec/allow-list.ts';
import { commandProcesses } from '../../shared/exec/command-processes.ts';
import { closeInheritedDescriptors } from '../../shared/exec/inherited-descriptors.ts';
import { localRunner } from '../../shared/exec/local.ts';
import type { Attribution } from '../../shared/lib/attribution.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Log } from '../../shared/lib/log.ts';
import type { Canary } from '../../shared/manager/ports.ts';
import type { DialPolicy } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import type { Advise } from '../../shared/prober/advice.ts';
import { type RunProbing, runProbing } from '../run-probing.ts';
import { aloneAdvise } from './advice.ts';
import { localCanaries, type WayOut } from './canaries.ts';
import { environmentSecrets } from './environment-secrets.ts';

export type ProbingOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly allowExec?: AllowList;
  /** Where each secret may be sent; default: none anywhere. */
  readonly secretHosts?: SecretHosts;
  /** What may be dialed and who is asked for names; default: what a single machine allows, and its own DNS servers. */
  readonly network?: { readonly policy: DialPolicy; readonly dnsServers: readonly string[] };
  readonly wayOut?: WayOut;
  /** Absent: nobody watches the event loop. */
  readonly attribution?: Attribution | undefined;
};

export type Probing = {
  readonly canaries: readonly Canary[];
  /** Which probes of a spec these probers refuse by their configuration. */
  readonly advise: Advise;
  /** What each run has for itself, so that it can end what it began. */
  readonly forRun: () => RunProbing;
  close(): Promise<void>;
};

export function localProbing({
  clock,
  log,
  allowExec,
  secretHosts = new Map(),
  network,
  wayOut = { kind: 'none' },
  attribution,
}: ProbingOptions): Probing {
  const resolve = resolver({ clock, ...(network && { servers: network.dnsServers }) });
  const policy = network?.policy ?? dialPolicy({ mode: 'local' });
  if (allowExec) closeInheritedDescriptors();
  const processes = commandProcesses(clock);
  // A stop that takes too long, or a bug, ends this process without a close.
  process.once('exit', processes.killAll);
  const canaries = localCanaries({ clock, resolve, log, wayOut });
  return {
    canaries: canaries.list,
    advise: aloneAdvise({ allowExec, secretHosts, policy }),
    forRun: () =>
      runProbing({
        clock,
        policy,
        attribution,
        // All runs share what it remembers.
        resolveOn: () => resolve,
        outside: (own) => ({
          run: localRunner({ clock: own, processes, ...(allowExec && { allows: allowExec }) }),
          secrets: environmentSecrets(secretHosts),
        }),
      }),
    async close() {
      processes.killAll();
      process.off('exit', processes.killAll);
      await canaries.close();
    },
  };
}
