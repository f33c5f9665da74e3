/**
 * The targets that a command is about: named ones, or all of a namespace or of all namespaces, once or as they change.
 */

import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ReadyValue } from '../../../shared/api/targets/target-viewer.ts';
import type { NamedTarget } from '../../client/answers.ts';
import type { TargetQuery } from '../../client/api-client.ts';
import { WrongUse } from '../words/exit-codes.ts';
import { noTarget } from '../words/resources.ts';
import type { Session } from './connection.ts';

export type Selection = {
  readonly names: readonly string[];
  /** If absent, all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Those whose condition Ready has one of these values, as it is shown. If absent, all. */
  readonly ready?: readonly ReadyValue[] | undefined;
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
    namespace: allNamespaces ? undefined : namespace,
    labelSelector: selector,
    fieldSelector,
    ready: notReady ? ['false', 'unknown'] : ready && [ready],
  };
}

/** All of them. If a named one does not exist, throws so after the others. */
export async function* selectedTargets(session: Session, selection: Selection): AsyncGenerator<TargetView> {
  const { names, namespace = session.namespace } = selection;
  if (names.length === 0) {
    const query = { ...queryOf(selection), fieldSelector: selection.fieldSelector || undefined };
    // The API selects by one value in a list.
    for (const ready of selection.ready ?? [undefined]) yield* session.client.targets({ ...query, ready });
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
export const queryOf = ({ namespace, labelSelector }: Selection): TargetQuery => ({ namespace, labelSelector });

/** As kubectl says it. */
export const noneFound = (what: string, { namespace }: Selection): string =>
  namespace === undefined ? `No ${what} found.` : `No ${what} found in namespace ${namespace}.`;

/** By namespace and name, as kubectl sorts. */
export const byName = (a: NamedTarget, b: NamedTarget): number =>
  a.namespace === b.namespace ? compared(a.name, b.name) : compared(a.namespace, b.namespace);

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export type SeenTarget =
  /** All of them: at the beginning, and where events may have been missed. */
  | { readonly kind: 'listed'; readonly targets: readonly TargetView[] }
  | { readonly kind: 'changed'; readonly target: TargetView };

const targetEvent = z.object({ detail: z.object({ target: z.object({ namespace: z.string(), name: z.string() }) }) });

/**
 * Watches a selection. An event is only a hint, so a target is read again before it is shown. Ends with the session.
 */
export async function* watchedTargets(session: Session, selection: Selection): AsyncGenerator<SeenTarget> {
  const { client } = session;
  const { names } = selection;
  const [only] = names.length === 1 ? names : [];
  for await (const seen of client.watch({ ...queryOf(selection), name: only })) {
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

/**
 * Remembers what a watch has printed: returns whether the state of a key differs from its last one. Beyond `keysMax`
 * keys the oldest are forgotten. Only digests are kept, because the texts of a server may be long.
 */
export function printedStates(keysMax: number): (key: string, state: string) => boolean {
  const states = new Map<string, string>();
  return (key, state) => {
    const [at, digest] = [digestOf(key), digestOf(state)];
    const isNew = states.get(at) !== digest;
    states.delete(at);
    states.set(at, digest);
    const [oldest] = states.keys();
    if (states.size > keysMax && oldest !== undefined) states.delete(oldest);
    return isNew;
  };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');
