/** One recorded behaviour of Kubernetes; its fields depend on the family. */
export type Vector = { readonly name: string; readonly [field: string]: unknown };

/** Differs, and these numbered differences of docs/semantics.md say so. */
export type ByRule = { readonly kind: 'byRule'; readonly rules: readonly number[] };

/** `undefined`: equal. A text: what differed, in a few lines. */
export type Finding = string | undefined | ByRule;

/** Runs one vector. */
export type VectorRunner = (vector: Vector) => Promise<Finding> | Finding;
