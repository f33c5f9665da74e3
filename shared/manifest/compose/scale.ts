/** How many containers a Compose service has. */

import type { Path } from '../manifest.ts';
import { type Members, valueAt } from '../values.ts';
import { wholeNumber } from './values.ts';

export type Copies =
  /** `variable`: only `docker compose config` knows how many. */
  | { readonly kind: 'counted'; readonly copies: number | 'variable'; readonly at: Path }
  | { readonly kind: 'wrong'; readonly detail: string; readonly at: Path };

/** `scale` comes first: Compose refuses another number of `deploy.replicas` beside it. */
const places: readonly Path[] = [['scale'], ['deploy', 'replicas']];

export function copiesOf(service: Members): Copies {
  for (const at of places) {
    const read = wholeNumber(valueAt(service, at));
    if (read.kind === 'absent') continue;
    if (read.kind === 'variable') return { kind: 'counted', copies: 'variable', at };
    if (read.kind === 'value' && read.value >= 0) return { kind: 'counted', copies: read.value, at };
    return { kind: 'wrong', detail: 'must be a whole number of at least 0', at };
  }
  return { kind: 'counted', copies: 1, at: [] };
}
