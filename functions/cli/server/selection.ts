/** The targets that a command is about: named ones, or all of a namespace or of all namespaces. */
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ReadyValue } from '../../../shared/api/targets/target-viewer.ts';
import type { TargetQuery } from '../../client/api-client.ts';
import type { NamedTarget } from '../../client/paths.ts';
import { WrongUse } from '../words/exit-codes.ts';
import { noTarget } from '../words/resources.ts';
import type { Session } from './connection.ts';

export type Selection = {
  readonly names: readonly string[];
  /** If absent, all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Those whose condition Ready has one of these values, as it is shown. If absent, all. */
  readonly ready?: readonly ReadyValue[];
};

export type SelectionOptions = {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly fieldSelector?: string;
  readonly ready?: ReadyValue;
  readonly notReady?: boolean;
};

/** @throws CliError for names beside what is for lists */
export function selectionOf(
  names: readonly string[],
  options: SelectionOptions,
  { namespace }: Pick<Session, 'namespace'>,
): Selection {
  const { allNamespaces = false, selector, fieldSelector, ready, notReady = false } = options;
  if (names.length > 0 && (allNamespaces || selector !== undefined))
    throw new WrongUse('a name goes with neither --all-namespaces nor --selector');
  if (names.length > 0 && (fieldSelector !== undefined || ready !== undefined || notReady))
    throw new WrongUse('a name goes with neither --field-selector, --ready nor --not-ready');
  if (ready !== undefined && notReady) throw new WrongUse('--ready does not go with --not-ready');
  return {
    names,
    ...(!allNamespaces && { namespace }),
    ...(selector !== undefined && { labelSelector: selector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(notReady && { ready: ['false', 'unknown'] as const }),
    ...(ready !== undefined && { ready: [ready] }),
  };
}

/** All of them. If a named one does not exist, throws so after the others. */
export async function* selectedTargets(session: Session, selection: Selection): AsyncGenerator<TargetView> {
  const { names, namespace = session.namespace } = selection;
  if (names.length === 0) {
    const query = { ...queryOf(selection), ...(selection.fieldSelector && { fieldSelector: selection.fieldSelector }) };
    // The API selects by one value in a list.
    for (const ready of selection.ready ?? [undefined])
      yield* session.client.targets({ ...query, ...(ready !== undefined && { ready }) });
    return;
  }
  const absent: string[] = [];
  for (const name of names) {
    const target = await session.client.target({ namespace, name });
    if (target) yield target;
    else absent.push(name);
  }
  if (absent.length > 0) throw noTarget(absent.join(', '), namespace);
}

/** The part of a selection that the API filters both lists and events by. */
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
