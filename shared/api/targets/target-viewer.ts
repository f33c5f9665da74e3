/** Shows the targets of one answer: all at the same instant, with each bucket's freshness read once. */
import { targetAddress } from '../../store/records/keys.ts';
import type { ApiDeps } from '../ports/deps.ts';
import type { TargetView } from '../schema/target-schema.ts';
import { freshnessReader } from './freshness.ts';
import type { ViewOptions } from './probe-view.ts';
import type { StoredTarget } from './stored-target.ts';
import { readyView, targetView } from './target-view.ts';

export const readyValues = ['true', 'false', 'unknown'] as const;

export type ReadyValue = (typeof readyValues)[number];

export type TargetViewer = {
  viewOf(stored: StoredTarget): Promise<TargetView>;
  /** The condition Ready as shown. */
  readyOf(stored: StoredTarget): Promise<ReadyValue>;
};

const readyOfStatus = { True: 'true', False: 'false', Unknown: 'unknown' } as const;

export function targetViewer(deps: ApiDeps): TargetViewer {
  const freshnessOf = freshnessReader(deps);
  const nowMs = deps.clock.nowMs();
  const optionsFor = async ({ target }: StoredTarget): Promise<ViewOptions> => {
    const { bucket } = targetAddress(target.namespace, target.name);
    return { freshness: await freshnessOf(bucket), nowMs };
  };
  return {
    viewOf: async (stored) => targetView(stored, await optionsFor(stored)),
    readyOf: async (stored) => readyOfStatus[readyView(stored, await optionsFor(stored))],
  };
}
