/** The probe that hung the event loop, as a name that a watchdog keeps and gives back. */
import type { TargetRecord } from '../core/records.ts';
import type { HeldProbe } from './held.ts';

/** The parts of a name in their order, each a line: none of them can contain a line break. */
export const hungProbeParts = ['namespace', 'target', 'uid', 'generation', 'container', 'probeType'] as const;

/** A change of the spec gives another name. */
export const hungProbeName = (
  { namespace, name, uid, generation }: TargetRecord,
  { container, probeType }: HeldProbe,
): string => `${namespace}\n${name}\n${uid}\n${generation}\n${container.spec.name}\n${probeType}`;
