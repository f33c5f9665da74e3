/**
 * The one place that maps each kind of request to its prober. A new protocol is one file beside this one and one line
 * here.
 */
import type { Runner } from '../exec/exec.ts';
import type { Clock } from '../lib/clock.ts';
import type { Dial } from '../net/net.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { execProber } from './exec.ts';
import { grpcProber } from './grpc/grpc.ts';
import { httpProber } from './http/http.ts';
import { type KeptMemory, keptMemory } from './kept-memory.ts';
import type { Probers } from './prober.ts';
import { withSecretHeaders } from './secret-headers.ts';
import { withStorableOutput } from './stored-output.ts';
import { tcpProber } from './tcp.ts';
import type { TlsSessions } from './tls/sessions.ts';

export type ProberPorts = {
  readonly dial: Dial;
  readonly clock: Clock;
  /** Runs the commands of exec probes. */
  readonly run: Runner;
  readonly secrets: Secrets;
  /** The process's; absent: one for these probers. */
  readonly memory?: KeptMemory;
  /** The process's; absent: no session is resumed. */
  readonly tlsSessions?: TlsSessions | undefined;
};

/** The probers of the product: their outputs may be stored, and their requests may refer to secrets. */
export function proberRegistry({
  dial,
  clock,
  run,
  secrets,
  memory = keptMemory(),
  tlsSessions,
}: ProberPorts): Probers {
  return withStorableOutput({
    http: withSecretHeaders(httpProber({ dial, clock, memory, tlsSessions }), { secrets, clock }),
    tcp: tcpProber({ dial, clock }),
    grpc: grpcProber({ dial, clock }),
    exec: execProber({ run, clock }),
  });
}
