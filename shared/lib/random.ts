/** Randomness as a port, so that a simulation can be repeated from its seed. */
export interface Random {
  /** Returns a number uniform in [0, 1). */
  next(): number;
  /** Returns a new id that is unique across processes: a version 4 UUID in production. */
  uuid(): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => crypto.randomUUID(),
};
