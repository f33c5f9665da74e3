/** The probing ports of one run, both on a machine and on AWS. They all use the run's clock and end with it. */

import type { Ports } from '../shared/holder/run.ts';
import { type Attribution, attributedClock } from '../shared/lib/attribution.ts';
import { type Clock, type EndingClock, endingClock } from '../shared/lib/clock.ts';
import { systemCpuMs } from '../shared/lib/cpu-time.ts';
import { guardedDialer } from '../shared/net/dialer.ts';
import type { DialPolicy, Resolve } from '../shared/net/net.ts';
import { type ProberPorts, proberRegistry } from '../shared/prober/registry.ts';

export type RunProbing = Pick<Ports, 'dial' | 'resolve' | 'probers' | 'abandon' | 'cpuMs' | 'attribution'>;

type Options = {
  readonly clock: Clock;
  /** Absent: what the machine refuses is not logged. */
  readonly onFailedDial?: (code: string) => void;
  readonly policy: DialPolicy;
  readonly attribution?: Attribution | undefined;
  /** Absent: every TLS handshake is a full one. */
  readonly tlsSessions?: ProberPorts['tlsSessions'];
  readonly resolveOn: (clock: EndingClock) => Resolve;
  /** Provides commands and secrets. */
  readonly outside: (clock: EndingClock) => Pick<ProberPorts, 'run' | 'secrets'>;
};

export function runProbing({
  clock,
  onFailedDial,
  policy,
  attribution,
  tlsSessions,
  resolveOn,
  outside,
}: Options): RunProbing {
  const ending = endingClock(clock);
  const own = attribution ? attributedClock(ending, attribution) : ending;
  const resolve = resolveOn(own);
  const dial = guardedDialer({ resolve, policy, clock: own, ...(onFailedDial && { onFailed: onFailedDial }) });
  const probers = proberRegistry({ dial, clock: own, tlsSessions, ...outside(own) });
  return { dial, resolve, probers, abandon: own.end, cpuMs: systemCpuMs, attribution };
}
