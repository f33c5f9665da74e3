/** What takes the place of an exported function, and how often it was called. */

export type Replacement = {
  /** From the root of the project. */
  readonly module: string;
  readonly exported: string;
  /** `removed` is to be called whenever the protection would have been asked. */
  readonly replace: (original: never, removed: () => void) => unknown;
};

type Functions = { readonly [exported: string]: unknown };

/** Typed by the module: `replacementIn<typeof import('…')>()('…', 'name', (original) => …)`. */
export const replacementIn =
  <Module extends Functions>() =>
  <Name extends string & keyof Module>(
    module: string,
    exported: Name,
    replace: (original: Module[Name], removed: () => void) => Module[Name],
  ): Replacement => ({ module, exported, replace });

const replacements = new Map<string, Replacement>();
const calls = new Map<string, number>();

const nameOf = ({ module, exported }: Pick<Replacement, 'module' | 'exported'>): string => `${module}#${exported}`;

export function enterReplacements(all: readonly Replacement[]): void {
  for (const one of all) {
    if (replacements.has(nameOf(one))) throw new Error(`${nameOf(one)} is replaced twice`);
    replacements.set(nameOf(one), one);
    calls.set(nameOf(one), 0);
  }
}

/** How often each replacement stood in for its original, by module and name. */
export const callsOf = (): ReadonlyMap<string, number> => calls;

/** Called by the wrapper of the module. */
export function replaced(module: string, exported: string, original: unknown): unknown {
  const name = nameOf({ module, exported });
  const replacement = replacements.get(name);
  if (!replacement || typeof original !== 'function') throw new Error(`${name} cannot be replaced`);
  const removed = () => void calls.set(name, (calls.get(name) ?? 0) + 1);
  return replacement.replace(original as never, removed);
}
