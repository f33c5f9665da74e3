/** Finds the known word that a misspelled word probably stands for, for messages that end in "did you mean …?". */

/** Longer words are not compared. This bounds the work for one known word to 64 × 64 steps, whatever a client sends. */
const wordLengthMax = 64;
/** Allowed slips: one for this many letters. A word with more differences is a different word. */
const lettersPerSlip = 3;
/** Shorter prefixes, such as `t`, match too many known words to suggest one. */
const beginningLengthMin = 3;

/**
 * Returns the known word with the fewest slips, or else the first known word that begins with `word`, or undefined if
 * neither exists.
 *
 * A slip is an extra, missing or wrong character, or two swapped neighbours. One slip is allowed for every three
 * characters, and at least one. Case is ignored. Among equally near words, the first one wins.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word === '' || word.length > wordLengthMax) return undefined;
  const folded = word.toLowerCase();
  const slipsMax = Math.max(1, Math.floor(folded.length / lettersPerSlip));
  const [closest] = known
    .map((name) => ({ name, slips: slipsBetween(folded, name.toLowerCase(), slipsMax) }))
    .filter(({ slips }) => slips <= slipsMax)
    .sort((a, b) => a.slips - b.slips);
  return closest?.name ?? continuation(folded, known);
}

const continuation = (beginning: string, known: readonly string[]): string | undefined =>
  beginning.length < beginningLengthMin ? undefined : known.find((name) => name.toLowerCase().startsWith(beginning));

/**
 * The optimal string alignment distance. Returns some number above `slipsMax` if the lengths alone rule the pair out.
 */
function slipsBetween(a: string, b: string, slipsMax: number): number {
  if (Math.abs(a.length - b.length) > slipsMax) return slipsMax + 1;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const next = nextRow({ a, b, row }, last, beforeLast);
    [beforeLast, last] = [last, next];
  }
  return last[b.length] ?? slipsMax + 1;
}

type At = { readonly a: string; readonly b: string; readonly row: number };

function nextRow({ a, b, row }: At, last: readonly number[], beforeLast: readonly number[]): readonly number[] {
  const costs = [row];
  const at = (costsOfRow: readonly number[], column: number) => costsOfRow[column] ?? Number.POSITIVE_INFINITY;
  for (let column = 1; column <= b.length; column += 1) {
    const isSame = a[row - 1] === b[column - 1];
    const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
    costs.push(
      Math.min(
        at(last, column) + 1,
        at(costs, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      ),
    );
  }
  return costs;
}
