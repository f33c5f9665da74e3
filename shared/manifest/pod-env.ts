/**
 * The variables of containers that exec probes name. The others are often secrets, and no probe needs them, so they are
 * not sent to be stored.
 */
import { execCommands } from './pod-probes.ts';
import { isMembers, listOf, type Members, textOf } from './values.ts';

export type WithUsedEnv = { readonly spec: Members; readonly isReduced: boolean };

const containerLists = ['initContainers', 'containers'] as const;

/** A copy of the spec of a Pod in which each container has those variables only. */
export function withUsedEnv(spec: Members): WithUsedEnv {
  let isReduced = false;
  const reduced = (container: unknown): unknown => {
    if (!isMembers(container) || !Array.isArray(container.env)) return container;
    const used = namedIn(execCommands(container));
    const { env, ...rest } = container;
    const kept = listOf(env).filter((variable) => !isMembers(variable) || used.has(textOf(variable.name) ?? ''));
    isReduced ||= kept.length < listOf(env).length;
    return kept.length === 0 ? rest : { ...rest, env: kept };
  };
  const lists = containerLists
    .filter((list) => Array.isArray(spec[list]))
    .map((list) => [list, listOf(spec[list]).map(reduced)]);
  return { spec: { ...spec, ...Object.fromEntries(lists) }, isReduced };
}

/**
 * kubelet puts in `$(NAME)`; `$$` stands for a dollar. The closing parenthesis is optional: a search that fails without
 * it would start again at each later one.
 */
const namedIn = (commands: readonly (readonly string[])[]): ReadonlySet<string> =>
  new Set(
    commands.flat().flatMap((word) => [...word.matchAll(/\$(?:\$|\(([^)]*)\)?)/g)].flatMap(([, name]) => name ?? [])),
  );
