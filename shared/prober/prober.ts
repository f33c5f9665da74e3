/**
 * The prober port: one attempt of one probe. A `ProbeRequest` is fully resolved (address, port, headers, command), so a
 * prober never looks at a spec. A prober never throws: every fault is an `Attempt` with a failure, or with `error` (a
 * prober error, which the worker discards after its retries). Source: pkg/probe.
 */

import type { ProbeRequest } from '../core/spec/handlers.ts';
import type { Attempt } from '../core/spec/types.ts';
import type { SocketPermit } from '../net/net.ts';

/** `permit`: for every socket of the attempt, one after the other. */
export type Prober<Request extends ProbeRequest = ProbeRequest> = (
  request: Request,
  permit?: SocketPermit,
) => Promise<Attempt>;

/** One prober for each kind of request. */
export type Probers = { readonly [Kind in ProbeRequest['kind']]: Prober<Extract<ProbeRequest, { kind: Kind }>> };
