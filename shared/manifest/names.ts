/** Names of targets from names that other programs allow. */
import { namespaceLengthMax } from '../core/limits.ts';

/**
 * Lower case, with `-` for each run of other characters than letters and digits, so that it is a name of a target and
 * of a container. Empty if nothing is left, which the API refuses.
 */
export function targetName(text: string): string {
  const parts = text.toLowerCase().split(/[^a-z0-9]+/);
  const joined = parts.filter((part) => part !== '').join('-');
  const cut = joined.slice(0, namespaceLengthMax);
  return cut.endsWith('-') ? cut.slice(0, -1) : cut;
}
