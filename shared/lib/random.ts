/** Chance as a port, so that a simulation repeats from its seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A fresh id, unique among all processes: a version 4 UUID in production. */
  uuid(): string;
}

export const systemRandom: Random = {
  next: () => Math.random(),
  uuid: () => crypto.randomUUID(),
};
