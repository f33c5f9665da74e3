/**
 * Which probes of a spec can never run under a prober's configuration. Decided from the spec and the configuration
 * alone: nothing is dialed, run or looked up, so a probe without advice may still fail.
 */
import { toBytes } from '../core/go/bytes.ts';
import type { HttpRequest } from '../core/spec/handler-http-get.ts';
import type { ProbeRequest } from '../core/spec/handlers.ts';
import { resolveProbeRequest } from '../core/spec/probe-request.ts';
import { probePointer, type SpecProbe, specProbes, type TargetSpec } from '../core/spec/spec.ts';
import type { ExecRefusal } from '../exec/exec.ts';
import type { DialRefusal } from '../net/net.ts';
import type { SecretRefusal } from '../secrets/secrets.ts';
import { unrunnable } from './exec.ts';
import { httpUrl } from './http/url.ts';
import { refusedHeaders } from './secret-headers.ts';

export type Advice = {
  /** JSON pointer (RFC 6901) to the probe, e.g. `/spec/containers/0/livenessProbe`. */
  readonly pointer: string;
  /** Why it cannot run, and what would allow it. */
  readonly detail: string;
};

/** One entry for each probe that cannot run, in kubelet's order. */
export type Advise = (spec: TargetSpec) => readonly Advice[];

/** What the prober refuses. Absent: unknown, so there is no advice. */
export type ProberConfiguration = {
  readonly dialRefusal?: DialRefusal;
  readonly execRefusal?: ExecRefusal;
  readonly secretRefusal?: SecretRefusal;
};

export function adviser(configuration: ProberConfiguration): Advise {
  return (spec) =>
    specProbes(spec).flatMap((probe) => {
      const reasons = new Set(reasonsOf(spec, probe, configuration));
      return reasons.size === 0 ? [] : [{ pointer: probePointer(spec, probe), detail: [...reasons].join(', and ') }];
    });
}

/** A request names its target for the runner; no refusal depends on it. */
const anyTarget = { namespace: '', name: '', uid: '' } as const;

function reasonsOf(
  { host }: TargetSpec,
  { container, probe }: SpecProbe,
  configuration: ProberConfiguration,
): readonly string[] {
  const resolved = resolveProbeRequest(probe, { target: anyTarget, host, container: container.spec });
  if (resolved.kind === 'error')
    return [`its request cannot be made: ${resolved.error}; another port, host or path would allow it`];
  return refusals(resolved.request, configuration).filter((why) => why !== undefined);
}

function refusals(request: ProbeRequest, configuration: ProberConfiguration): readonly (string | undefined)[] {
  if (request.kind === 'http') return httpRefusals(request, configuration);
  if (request.kind === 'exec') return [nulRefusal(request.command) ?? configuration.execRefusal?.(request.command)];
  return [configuration.dialRefusal?.(request.host)];
}

function nulRefusal(command: readonly string[]): string | undefined {
  const why = unrunnable(command);
  return why && `${why}; remove it`;
}

function httpRefusals(request: HttpRequest, { dialRefusal, secretRefusal }: ProberConfiguration) {
  const { dialHost } = httpUrl(toBytes(request.url));
  return [dialRefusal?.(dialHost), ...(secretRefusal ? refusedHeaders(request, secretRefusal) : [])];
}
