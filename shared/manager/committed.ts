/** What follows a commit that went through. */
import type { ProbeRecord } from '../core/records.ts';
import { publishedResult } from '../core/shown.ts';
import type { ProbeName } from '../core/spec.ts';
import type { HeldTarget } from './held.ts';
import type { Holder } from './holder.ts';
import type { Run } from './run.ts';
import { isNewer } from './transition.ts';

/** The target was read anew while this commit was under way, perhaps before it was applied: who holds it now may not know of it. */
export async function renewSuccessor(
  holder: Holder,
  held: HeldTarget,
  { name, after }: { readonly name: ProbeName; readonly after: ProbeRecord },
): Promise<void> {
  const successor = holder.targets.get(held.address.prefix);
  const known = successor?.target.uid === after.uid ? successor.records.get(name) : undefined;
  if (successor && known && isNewer(after, known)) await holder.reload(successor);
}

export function logChange(
  { ports }: Run,
  held: HeldTarget,
  { before, after }: { readonly before: ProbeRecord; readonly after: ProbeRecord },
): void {
  const { namespace, name } = held.target;
  const { container, probeType, containerID, output, version, unknown } = after;
  ports.log.info('probe result changed', {
    namespace,
    name,
    container,
    probeType,
    containerID,
    result: publishedResult(after),
    previousResult: publishedResult(before),
    ...(unknown && { reason: unknown.reason }),
    output: unknown?.message ?? output,
    version,
  });
}
