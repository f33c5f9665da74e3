/** The `Warning` header of a registration: what was not stored, which probes can never run, and likely mistakes. */
import { type Finding, lintSpec } from '../../core/spec/lint.ts';
import type { Advice, Advise } from '../../prober/advice.ts';
import { configFileAnnotation } from '../schema/annotations.ts';
import { keptOutWarning } from '../schema/kept-out.ts';
import type { StoredTarget } from './stored-target.ts';

/**
 * Maximum number of named probes. Together with the removed fields, the header stays below the 16 KiB of header fields
 * that clients such as Node's read.
 */
const adviceMax = 8;
/** Maximum number of named findings. Their texts hold nothing of the client's and are short. */
const findingsMax = 6;
/** Length of one warning, before quotes are escaped. */
const adviceCharsMax = 400;
/** The part of it that is kept from the end, where a warning contains its advice. */
const endCharsMax = 200;

/** Probes of a spec that can never run, and likely mistakes in the others. */
export type SpecWarnings = { readonly advice: readonly Advice[]; readonly findings: readonly Finding[] };

export const noSpecWarnings: SpecWarnings = { advice: [], findings: [] };

/** A probe that can never run has only that warning: its other mistakes have no effect yet. */
export function specWarnings({ target }: StoredTarget, advise: Advise | undefined): SpecWarnings {
  const advice = advise?.(target.spec) ?? [];
  const isAdvised = (found: Finding) => advice.some(({ pointer }) => found.pointer.startsWith(`${pointer}/`));
  return { advice, findings: lintSpec(target.spec).filter((found) => !isAdvised(found)) };
}

/**
 * @param ignored paths of the fields that were not stored
 * @param file the file of the configuration that has the target; undefined: none, or it is the configuration that
 * changes it
 */
export function warningTexts(
  ignored: readonly string[],
  file: string | undefined,
  { advice, findings }: SpecWarnings,
): readonly string[] {
  const keptOut = keptOutWarning(ignored);
  return [
    ...(file === undefined ? [] : [managedWarning(file)]),
    ...(keptOut === undefined ? [] : [keptOut]),
    ...adviceWarnings(advice),
    ...findingWarnings(findings),
  ];
}

/** The file in the annotation of a target that a configuration registered. */
export const fileOf = (stored: StoredTarget | undefined): string | undefined =>
  stored?.target.annotations[configFileAnnotation];

const managedWarning = (file: string): string =>
  cut(`${file} of the configuration has this target and will register it again as it is there: change it in the file`);

/** RFC 7234, section 5.5: code 299, miscellaneous and persistent, one value for each warning. */
export function warningHeader(warnings: readonly string[]): Readonly<Record<string, string>> {
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 - ${quoted(text)}`).join(', ') };
}

function adviceWarnings(advice: readonly Advice[]): readonly string[] {
  const named = advice.slice(0, adviceMax).map(({ pointer, detail }) => cut(`${pointer} cannot run: ${detail}`));
  const more = advice.length - named.length;
  return more === 0 ? named : [...named, `${more} more probes cannot run`];
}

function findingWarnings(findings: readonly Finding[]): readonly string[] {
  const named = findings
    .slice(0, findingsMax)
    .map(({ pointer, reason, mend }) => `${pointer} ${reason}; mend: ${mend}`);
  const more = findings.length - named.length;
  return more === 0 ? named : [...named, `${more} more findings`];
}

const gap = ' ... ';

/** Cuts out the middle, where a command or a host may be of any length. */
const cut = (text: string): string =>
  text.length <= adviceCharsMax
    ? text
    : text.slice(0, adviceCharsMax - gap.length - endCharsMax) + gap + text.slice(-endCharsMax);

/** A quoted-string (RFC 9110, section 5.6.4). Clients read bytes beyond ASCII in different ways, so it has none. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[^\x20-\x7e]/g, '?').replaceAll(/["\\]/g, (special) => `\\${special}`)}"`;
