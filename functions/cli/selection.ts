/** The targets that a command is about: named ones, or all of a namespace or of all namespaces. */
import type { TargetView } from '../../shared/api/target-schema.ts';
import type { TargetQuery } from '../client/api-client.ts';
import type { NamedTarget } from '../client/paths.ts';
import type { Session } from './connection.ts';
import { CliError, exitCodes } from './exit-codes.ts';
import { noTarget } from './resources.ts';

export type Selection = {
  readonly names: readonly string[];
  /** If absent, all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
};

export type SelectionOptions = { readonly allNamespaces?: boolean; readonly selector?: string };

/** @throws CliError for names beside what is for lists */
export function selectionOf(
  names: readonly string[],
  { allNamespaces = false, selector }: SelectionOptions,
  { namespace }: Pick<Session, 'namespace'>,
): Selection {
  if (names.length > 0 && (allNamespaces || selector !== undefined))
    throw new CliError('a name goes with neither --all-namespaces nor --selector', exitCodes.wrongUse);
  return {
    names,
    ...(!allNamespaces && { namespace }),
    ...(selector !== undefined && { labelSelector: selector }),
  };
}

/** All of them. If a named one does not exist, throws so after the others. */
export async function* selectedTargets(session: Session, selection: Selection): AsyncGenerator<TargetView> {
  const { names, namespace = session.namespace } = selection;
  if (names.length === 0) return yield* session.client.targets(queryOf(selection));
  const absent: string[] = [];
  for (const name of names) {
    const target = await session.client.target({ namespace, name });
    if (target) yield target;
    else absent.push(name);
  }
  if (absent.length > 0) throw noTarget(absent.join(', '), namespace);
}

/** The part of a selection that the API filters by. */
export const queryOf = ({ namespace, labelSelector }: Selection): TargetQuery => ({
  ...(namespace !== undefined && { namespace }),
  ...(labelSelector !== undefined && { labelSelector }),
});

/** As kubectl says it. */
export const noneFound = (what: string, { namespace }: Selection): string =>
  namespace === undefined ? `No ${what} found.` : `No ${what} found in namespace ${namespace}.`;

/** By namespace and name, as kubectl sorts. */
export const byName = (a: NamedTarget, b: NamedTarget): number =>
  a.namespace === b.namespace ? compared(a.name, b.name) : compared(a.namespace, b.namespace);

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
