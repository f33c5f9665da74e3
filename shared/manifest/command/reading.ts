/** What a command in a container asks over the network, as a handler that asks it from outside. */
import type { Members } from '../values.ts';

/** Differences between the decisions of a handler and of the command, as a note says them. */
export const differences = {
  statuses: 'only a status from 200 to 399 is a success',
  redirects: 'redirects are followed on the same host name, and any other is a success',
  method: 'GET takes the place of HEAD',
  certificate: 'the certificate is not verified',
  time: "timeoutSeconds takes the place of the command's time limits",
  retries: 'a failure is not repeated at once',
  file: 'the answer is not written to a file',
} as const;

export type Difference = keyof typeof differences;

export type Reading =
  | { readonly kind: 'asks'; readonly handler: Members; readonly differences: readonly Difference[] }
  /** No handler is known to ask the same. The reason names the word of the command that decides it. */
  | { readonly kind: 'runs'; readonly reason: string };

/** Reads the arguments of one program. `names`: hosts that mean the container itself. */
export type Tool = (args: readonly string[], names: readonly string[]) => Reading;

export const runs = (reason: string): Reading => ({ kind: 'runs', reason });

/** Lists the differences in the order of the table, each once. */
export const asks = (handler: Members, differing: readonly Difference[]): Reading => ({
  kind: 'asks',
  handler,
  differences: (Object.keys(differences) as Difference[]).filter((each) => differing.includes(each)),
});

/** For a note about a command that a handler takes the place of. */
export const differencesText = (differing: readonly Difference[]): string =>
  differing.length === 0 ? '' : `: ${differing.map((each) => differences[each]).join('; ')}`;

const shownLengthMax = 60;

/** A word of a command in a note. */
export const shown = (word: string): string =>
  JSON.stringify(word.length > shownLengthMax ? `${word.slice(0, shownLengthMax)}…` : word);
