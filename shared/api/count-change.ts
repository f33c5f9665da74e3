/** How the API says that a target changes: by the counter of its slice, which the holder reads. */
import type { Growth } from '../core/quota.ts';
import { sleep } from '../lib/clock.ts';
import { changeCounted } from '../store/items.ts';
import type { TargetAddress } from '../store/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import type { ApiDeps } from './deps.ts';

const attemptsMax = 8;
const jitterFirstMs = 20;

/**
 * An addition that is applied twice only makes the holder look once more. `growth`: with the addition after the write, what it registered.
 * @throws StoreUnavailable when the counter could not be moved.
 */
export async function countChange(deps: ApiDeps, address: TargetAddress, growth?: Growth): Promise<void> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const outcome = await deps.store.write([changeCounted(address, growth)], { token: deps.random.uuid() });
    if (outcome.kind === 'written') return;
    await sleep(deps.clock, jitterFirstMs * attempt * (0.5 + deps.random.next()));
  }
  throw new StoreUnavailable('the change counter could not be moved');
}
