/** Removes the targets of the configuration that its files name no longer. */
import { scanTargets } from '../../../shared/api/lists/scan.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { configFileAnnotation } from '../../../shared/api/schema/annotations.ts';
import { changeTarget, type Plan } from '../../../shared/api/targets/change-target.ts';
import type { StoredTarget } from '../../../shared/api/targets/stored-target.ts';
import { planDelete } from '../../../shared/api/targets/target-plans.ts';
import type { TargetRecord } from '../../../shared/core/spec/records.ts';
import { pacer, sliceMs } from '../../../shared/lib/slices.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import type { ConfigSources } from './config-sources.ts';
import { isInDoubt, type Known } from './known-file.ts';

type Pruning = {
  readonly sources: Pick<ConfigSources, 'mayExist'>;
  readonly known: ReadonlyMap<string, Known>;
  readonly signal: AbortSignal;
};

/** Removes what files no longer name, as a DELETE does. Returns false if it has to be repeated. */
export async function prune(deps: ApiDeps, { sources, known, signal }: Pruning): Promise<boolean> {
  const named = new Set([...known.values()].flatMap(({ probes }) => [...(probes?.keys() ?? [])]));
  const stays = ({ namespace, name }: TargetRecord, file: string) => {
    const ofFile = known.get(file);
    return named.has(`${namespace}/${name}`) || (ofFile ? isInDoubt(ofFile) : sources.mayExist(file));
  };
  const pause = pacer(deps.clock, sliceMs);
  try {
    for await (const { stored } of scanTargets(deps)) {
      await pause();
      if (signal.aborted) return false;
      if (!stored) continue;
      const { target } = stored;
      const file = target.annotations[configFileAnnotation];
      if (file !== undefined && target.deletionTimestampMs === undefined && !stays(target, file))
        await remove(deps, target, file);
    }
    return true;
  } catch (error) {
    deps.log.warn('targets that no file names are not removed yet', { error });
    return false;
  }
}

/** Unless another client has made the target its own meanwhile. */
async function remove(deps: ApiDeps, { namespace, name }: TargetRecord, file: string): Promise<void> {
  const address = targetAddress(namespace, name);
  const begin = planDelete(address, { mustBeNew: false }, undefined, deps.clock.nowMs());
  const plan = (stored: StoredTarget | undefined): Plan =>
    stored && stored.target.annotations[configFileAnnotation] !== file ? { kind: 'unchanged', stored } : begin(stored);
  const outcome = await changeTarget(deps, address, plan, 'DeletionRequested', false);
  if (outcome.kind === 'ok' && outcome.stored.target.deletionTimestampMs !== undefined)
    deps.log.info('target removed: no file of the configuration names it any more', { namespace, name, file });
}
