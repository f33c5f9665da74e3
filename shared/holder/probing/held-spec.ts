/** What a holder makes of a probe's spec, once for all of its probes. */
import { createHash } from 'node:crypto';
import { reachOf } from '../../core/self/health.ts';
import { dialledHost } from '../../core/spec/handlers.ts';
import type { TargetRecord } from '../../core/spec/records.ts';
import type { SpecProbe } from '../../core/spec/spec.ts';
import type { ProbeOrder } from '../../prober/probe.ts';
import type { HeldSpec } from './held.ts';
import { workerSpecOf } from './held-state.ts';
import { hungProbeName } from './hung-probe.ts';

export function heldSpecOf(target: TargetRecord, entry: SpecProbe): HeldSpec {
  const dialled = dialledHost(entry.probe, target.spec.host);
  return {
    container: entry.container,
    probe: entry.probe,
    order: orderOf(target, entry),
    worker: workerSpecOf(target, entry),
    digest: specDigestOf(entry),
    workName: hungProbeName(target, entry),
    reach: dialled === undefined ? undefined : reachOf(dialled),
    stopping: false,
  };
}

export function orderOf({ namespace, name, uid, spec }: TargetRecord, entry: SpecProbe): ProbeOrder {
  const { container, probe, probeType } = entry;
  return {
    target: { namespace, name, uid },
    host: spec.host,
    container: container.spec,
    handler: probe,
    probeType,
    containerKind: container.kind,
  };
}

const digestDigits = 16;

/** Digest of a probe's spec. It does not depend on the order in which a store returns the attributes. */
export function specDigestOf({ probe }: SpecProbe): string {
  return createHash('sha256').update(sortedJson(probe)).digest('hex').slice(0, digestDigits);
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
