/** One fault for real: what it is called on the command line, and what it finds. */
import type { Figure } from '../../support/figures.ts';

/** `slice`: as long as the product's own constants need, for every change; `full`: as long as the figures that are told. */
export type Length = 'full' | 'slice';

export type Step = {
  readonly name: string;
  readonly title: string;
  /** Measures lateness: it runs before the others, which would be what is late. */
  readonly alone?: true;
  /** Throws what kept it from measuring. */
  readonly run: (length: Length) => Promise<readonly Figure[]>;
};
