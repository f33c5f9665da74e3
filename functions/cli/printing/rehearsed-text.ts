/** What a step of a simulation means, for people. */

import type { ProbeType } from '../../../shared/core/spec/types.ts';
import type { RehearsedProbe, RehearsedStep } from '../../../shared/core/status/rehearsal.ts';

/** How far the run is on its way to the threshold. */
export const runText = ({ run, threshold }: Pick<RehearsedStep, 'run' | 'threshold'>): string =>
  threshold === undefined ? '-' : `${Math.min(run, threshold)}/${threshold}`;

const effects: { readonly [type in ProbeType]: { readonly [result in 'success' | 'failure']: string } } = {
  readiness: { success: 'the container is ready', failure: 'the container is not ready' },
  liveness: { success: 'the container is alive', failure: 'a restart is requested' },
  startup: { success: 'readiness and liveness probes begin', failure: 'a restart is requested' },
};

/** Empty if the finding changes nothing. */
export function effectOf(
  { probeType }: Pick<RehearsedProbe, 'probeType'>,
  { isNew, result, finding, onHold }: Omit<RehearsedStep, 'afterMs'>,
): string {
  if (onHold) return 'waits for the next container';
  if (finding === 'error') return 'changes nothing; the second in a row is shown as unknown';
  return isNew && (result === 'success' || result === 'failure') ? effects[probeType][result] : '';
}
