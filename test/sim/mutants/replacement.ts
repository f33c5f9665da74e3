/** What takes the place of a function, and how often it was called. */

/** `original` is the function as it was; `removed` is to be called whenever the protection would have been asked. */
type Replace<Signature> = (original: Signature, removed: () => void) => Signature;
/** A function of which only the answer matters. */
export type AnyOf<Answer> = (...args: never[]) => Answer;
type Any = AnyOf<unknown>;

export type Replacement = {
  /** Of a function of a module, exported or not. No other one in the files has this name. */
  readonly name: string;
  /** Patterns, from the root of the project. */
  readonly files: readonly string[];
  readonly replace: (original: never, removed: () => void) => Any;
};

const replacing =
  (...files: readonly string[]) =>
  <Signature extends Any>(name: string, replace: Replace<Signature>): Replacement => ({ name, files, replace });

/** `inProduct('name', (original: (…) => …, removed) => …)`: a function of the product, in whichever file. */
export const inProduct = replacing('shared/**/*.ts', 'functions/**/*.ts');
/** `inSimulator<typeof name>('name', (original, removed) => …)`: a function of the simulator. */
export const inSimulator = replacing('test/sim/*.ts');

/** A replacement that gives this answer whatever its arguments are. */
export const always =
  (answer: unknown): Replace<Any> =>
  (_, removed) =>
  () => {
    removed();
    return answer;
  };

const replacements = new Map<string, Pick<Replacement, 'replace'> & { made?: Any; calls: number }>();

/** `place`: the file and the name. */
export function enterReplacement(place: string, { replace }: Replacement): void {
  if (replacements.has(place)) throw new Error(`${place} is replaced twice`);
  replacements.set(place, { replace, calls: 0 });
}

/** How often each replacement stood in for its original, by place. */
export const callsOf = (): { readonly [place: string]: number } =>
  Object.fromEntries([...replacements].map(([place, { calls }]) => [place, calls]));

/** Called by the changed source, each time that the function is called. */
export function replaced(place: string, original: Any): Any {
  const entered = replacements.get(place);
  if (!entered) throw new Error(`${place} cannot be replaced`);
  const removed = () => {
    entered.calls += 1;
  };
  entered.made ??= entered.replace(original as never, removed);
  return entered.made;
}
