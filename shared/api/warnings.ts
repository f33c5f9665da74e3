/** The `Warning` header of a registration: what was not stored, and which probes can never run. */
import type { Advice } from '../prober/advice.ts';
import { keptOutWarning } from './kept-out.ts';

/** Probes that are named. With what was kept out, the header stays below the 16 KiB of fields that clients such as Node's read. */
const adviceMax = 8;
/** Of one warning, before quotes are escaped. */
const adviceCharsMax = 400;
/** Of these, what stays of the end, where a warning says what to do. */
const endCharsMax = 200;

export type Warned = { readonly ignored: readonly string[]; readonly advice: readonly Advice[] };

export function warningTexts({ ignored, advice }: Warned): readonly string[] {
  const keptOut = keptOutWarning(ignored);
  return [...(keptOut === undefined ? [] : [keptOut]), ...adviceWarnings(advice)];
}

/** RFC 7234, section 5.5: code 299, miscellaneous and persistent, one value for each warning. */
export function warningHeader(warned: Warned): Readonly<Record<string, string>> {
  const warnings = warningTexts(warned);
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 - ${quoted(text)}`).join(', ') };
}

function adviceWarnings(advice: readonly Advice[]): readonly string[] {
  const named = advice.slice(0, adviceMax).map(({ pointer, detail }) => cut(`${pointer} cannot run: ${detail}`));
  const more = advice.length - named.length;
  return more === 0 ? named : [...named, `${more} more probes cannot run`];
}

const gap = ' ... ';

/** In the middle, where a command or a host may be of any length. */
const cut = (text: string): string =>
  text.length <= adviceCharsMax
    ? text
    : text.slice(0, adviceCharsMax - gap.length - endCharsMax) + gap + text.slice(-endCharsMax);

/** A quoted-string (RFC 9110, section 5.6.4). Clients read a byte beyond ASCII in different ways, so there is none. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, (special) => `\\${special}`)}"`;
