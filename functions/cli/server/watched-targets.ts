/** The targets of a selection as they change. An event is a hint: what is shown is read again. */
import * as z from 'zod';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { Session } from './connection.ts';
import { queryOf, type Selection, selectedTargets } from './selection.ts';

export type SeenTarget =
  /** All of them: at the beginning, and where events may have been missed. */
  | { readonly kind: 'listed'; readonly targets: readonly TargetView[] }
  | { readonly kind: 'changed'; readonly target: TargetView };

const targetEvent = z.object({ detail: z.object({ target: z.object({ namespace: z.string(), name: z.string() }) }) });

/** Ends when the session's requests are ended. */
export async function* watchedTargets(session: Session, selection: Selection): AsyncGenerator<SeenTarget> {
  const { client } = session;
  const { names } = selection;
  const [only] = names.length === 1 ? names : [];
  for await (const seen of client.watch({ ...queryOf(selection), ...(only !== undefined && { name: only }) })) {
    if (seen.kind === 'list') {
      yield { kind: 'listed', targets: await allOf(session, selection) };
      continue;
    }
    const event = targetEvent.safeParse(seen.envelope);
    if (!event.success) continue;
    const named = event.data.detail.target;
    if (names.length > 0 && !names.includes(named.name)) continue;
    const target = await client.target(named);
    if (target) yield { kind: 'changed', target };
  }
}

async function allOf(session: Session, selection: Selection): Promise<readonly TargetView[]> {
  const targets: TargetView[] = [];
  for await (const target of selectedTargets(session, selection)) targets.push(target);
  return targets;
}
