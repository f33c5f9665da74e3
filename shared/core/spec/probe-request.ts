/**
 * From a probe's handler to the request for a prober: kubelet's `runProbe`, without running anything
 * (pkg/kubelet/prober/prober.go).
 */
import type { ProbeSubject, Resolved } from './handler-fields.ts';
import { handlerOf, type ProbeRequest, type UncheckedHandlers } from './handlers.ts';

/**
 * The part of a probe that decides the request; a `Probe` is one. Of several handlers the first in kubelet's order
 * counts.
 */
export type Handler = UncheckedHandlers & { readonly timeoutSeconds: number };

export function resolveProbeRequest(handler: Handler, subject: ProbeSubject): Resolved<ProbeRequest> {
  const found = handlerOf(handler);
  if (found) return found.row.request(found.handler, subject, handler.timeoutSeconds * 1000);
  const { namespace, name, uid } = subject.target;
  return { kind: 'error', error: `missing probe handler for ${name}_${namespace}(${uid}):${subject.container.name}` };
}
