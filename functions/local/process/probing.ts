/** The network and commands of this machine, as the probers of one process use them. */
import type { SecretHosts } from '../../../shared/core/spec/secret-hosts.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { commandProcesses } from '../../../shared/exec/command-processes.ts';
import { closeInheritedDescriptors } from '../../../shared/exec/inherited-descriptors.ts';
import { localRunner } from '../../../shared/exec/local.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import type { Attribution } from '../../../shared/lib/attribution.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import type { DialPolicy } from '../../../shared/net/net.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { shortageLog } from '../../../shared/net/shortage.ts';
import type { Advise } from '../../../shared/prober/advice.ts';
import { tlsSessions } from '../../../shared/prober/tls/sessions.ts';
import { type RunProbing, runProbing } from '../../run-probing.ts';
import { aloneAdvise } from './advice.ts';
import { localCanaries, type WayOut } from './canaries.ts';
import { environmentSecrets } from './environment-secrets.ts';

export type ProbingOptions = {
  readonly clock: Clock;
  readonly log: Log;
  readonly allowExec?: AllowList | undefined;
  /** The hosts to which each secret may be sent. Defaults to none. */
  readonly secretHosts?: SecretHosts | undefined;
  /** The dial policy and DNS servers. Defaults to the policy of a single machine and to the machine's DNS servers. */
  readonly network?: { readonly policy: DialPolicy; readonly dnsServers: readonly string[] };
  readonly wayOut?: WayOut;
  /** Whether HTTPS probes resume TLS sessions; default false. */
  readonly tlsSessionResumption?: boolean | undefined;
  /** Absent without a watchdog. */
  readonly attribution?: Attribution | undefined;
};

export type Probing = {
  readonly canaries: readonly Canary[];
  /** Finds probes of a spec that these probers would refuse by their configuration. */
  readonly advise: Advise;
  /** Creates the probing ports of one run, so that the run can abort what it started. */
  readonly forRun: () => RunProbing;
  close(): Promise<void>;
};

export function localProbing({
  clock,
  log,
  allowExec,
  secretHosts = new Map(),
  tlsSessionResumption = false,
  network,
  wayOut = { kind: 'none' },
  attribution,
}: ProbingOptions): Probing {
  const resolve = resolver({ clock, ...(network && { servers: network.dnsServers }) });
  const policy = network?.policy ?? dialPolicy({ mode: 'local' });
  if (allowExec) closeInheritedDescriptors();
  const processes = commandProcesses(clock);
  // Covers an exit without `close`, after a stop that took too long or a crash.
  process.once('exit', processes.killAll);
  const onFailedDial = shortageLog(clock, log);
  const sessions = tlsSessionResumption ? tlsSessions(clock) : undefined;
  const onFailedCommand = shortageLog(clock, log, 'command');
  const canaries = localCanaries({ clock, resolve, log, wayOut });
  return {
    canaries: canaries.list,
    advise: aloneAdvise({ allowExec, secretHosts, policy }),
    forRun: () =>
      runProbing({
        clock,
        onFailedDial,
        policy,
        attribution,
        tlsSessions: sessions,
        // All runs share the resolver's cache.
        resolveOn: () => resolve,
        outside: (own) => ({
          run: localRunner({
            clock: own,
            processes,
            onFailed: onFailedCommand,
            ...(allowExec && { allows: allowExec }),
          }),
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
