/** A status is written on condition that it is the one that was read: of two who read the same only one writes. */
import { encodeStatus, updateTo } from '../store/items.ts';
import type { Operation } from '../store/store.ts';
import type { ReadTarget } from './read-target.ts';

export function statusUpdate(
  { address, target }: ReadTarget,
  record: ReadTarget['status'],
  versionRead: number,
): Operation {
  return {
    ...updateTo(encodeStatus(address, record)),
    if: [
      { kind: 'equals', attribute: 'uid', value: target.uid },
      { kind: 'equals', attribute: 'version', value: versionRead },
    ],
  };
}
