/** One recorded behaviour of kubelet; its fields depend on the family. */
export type Vector = { readonly name: string; readonly [field: string]: unknown };

/** Runs one vector. `undefined`: it passed; else what differed, in a few lines. */
export type VectorRunner = (vector: Vector) => Promise<string | undefined> | string | undefined;
