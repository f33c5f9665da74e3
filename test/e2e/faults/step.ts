/** One fault for real: what it is called on the command line, and what it finds. */
import type { Figure } from '../../support/figures.ts';

/**
 * `slice`: as short as the product's constants allow, for every change; `full`: as long as the published figures need.
 */
export type Length = 'full' | 'slice';

export type Step = {
  readonly name: string;
  readonly title: string;
  /** Measures lateness, so it runs alone, before the others. */
  readonly alone?: true;
  /** Throws what kept it from measuring. */
  readonly run: (length: Length) => Promise<readonly Figure[]>;
};
