/** From a probe's handler to what a prober is asked: kubelet's `runProbe`, without running anything (pkg/kubelet/prober/prober.go). */
import type { ProbeSubject, Resolved } from './handler-row.ts';
import { handlerOf, type ProbeRequest, type UncheckedHandlers } from './handlers.ts';

/** Of a probe, what decides the request; `Probe` is one. Of several handlers the first in kubelet's order counts. */
export type Handler = UncheckedHandlers & { readonly timeoutSeconds: number };

export function resolveProbeRequest(handler: Handler, subject: ProbeSubject): Resolved<ProbeRequest> {
  const found = handlerOf(handler);
  if (found) return found.row.request(found.handler, subject, handler.timeoutSeconds * 1000);
  const { namespace, name, uid } = subject.target;
  return { kind: 'error', error: `missing probe handler for ${name}_${namespace}(${uid}):${subject.container.name}` };
}
