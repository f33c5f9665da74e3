/** Reads one target for an answer, or returns the problem that it does not exist. */
import type { TargetName } from '../../core/spec/names.ts';
import { targetAddress } from '../../store/records/keys.ts';
import type { ApiDeps } from '../deps.ts';
import { type Checked, ok } from '../http/problem.ts';
import { unreadable } from './change-target.ts';
import { readStored, type StoredTarget } from './stored-target.ts';
import { noSuchTarget } from './target-plans.ts';

export async function readTargetOr(deps: ApiDeps, { namespace, name }: TargetName): Promise<Checked<StoredTarget>> {
  const read = await readStored(deps, targetAddress(namespace, name));
  switch (read.kind) {
    case 'found':
      return ok(read.stored);
    case 'absent':
      return noSuchTarget;
    case 'poison':
      return unreadable;
  }
}
