/** kubelet's TCP probe: connects and closes. It neither sends nor reads. Source: pkg/probe/tcp. */

import type { TcpRequest } from '../core/spec/handler-tcp-socket.ts';
import type { Attempt } from '../core/spec/types.ts';
import type { Clock } from '../lib/clock.ts';
import type { Dial } from '../net/net.ts';
import { failedDial } from './failed-dial.ts';
import type { Prober } from './prober.ts';

export type TcpProberOptions = { readonly dial: Dial; readonly clock: Clock };

/** Success once the connection is established; a failed connection is a failure with its text. */
export function tcpProber({ dial, clock }: TcpProberOptions): Prober<TcpRequest> {
  return async ({ host, port, timeoutMs }, permit): Promise<Attempt> => {
    const startMs = clock.monotonicMs();
    const dialed = await dial({ host, port, deadlineMs: startMs + timeoutMs, permit });
    const totalMs = clock.monotonicMs() - startMs;
    if (dialed.kind === 'failed') return failedDial(dialed, totalMs);
    dialed.socket.destroy();
    const { connectMs, dnsMs } = dialed;
    const timings = dnsMs === undefined ? { connectMs, totalMs } : { dnsMs, connectMs, totalMs };
    return { outcome: 'success', output: '', timings };
  };
}
