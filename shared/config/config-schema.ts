/**
 * The configuration file of one process: files of targets, alerts, and receivers. One zod schema gives the types, the
 * errors and the published JSON Schema.
 */
import * as z from 'zod';
import { alertFields, nameProblems } from '../alerts/alert-config.ts';
import { hostDetail } from '../core/spec/host-detail.ts';
import { isDnsLabel, isHost } from '../core/spec/names.ts';

/** Limits of one configuration. */
const entriesMax = 200;
const patternsMax = 200;
const patternCharactersMax = 4_096;

const pattern = z
  .string()
  .min(1)
  .max(patternCharactersMax)
  .superRefine((text, context) => {
    const message = globProblem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const namespace = z.string().refine(isDnsLabel, { error: 'must be lower-case letters, digits and -, at most 63' });

const host = z.string().superRefine((text, context) => {
  if (!isHost(text)) context.addIssue({ code: 'custom', message: hostDetail(text) });
});

const targets = z.union(
  [
    pattern,
    z.strictObject({
      files: z
        .array(pattern)
        .min(1)
        .max(patternsMax)
        .meta({ description: 'Files, or globs such as targets/*.yaml, relative to the folder of the configuration.' }),
      namespace: namespace.optional().meta({ description: 'Of targets that name none; default: default.' }),
      host: host.optional().meta({ description: 'The address of targets that name none.' }),
    }),
  ],
  { error: 'must be a file or glob, or { files: [...], namespace: NAME, host: ADDRESS }' },
);

export const configSchema = z
  .strictObject({
    targets: z.array(targets).max(entriesMax).optional().meta({ description: 'Files whose targets are registered.' }),
    ...alertFields,
  })
  .superRefine((config, context) => {
    for (const { path, message } of nameProblems(config))
      context.addIssue({ code: 'custom', path: [...path], message });
  });

export type Config = z.infer<typeof configSchema>;

/** Files of targets, and what holds for those that do not say it themselves. */
export type TargetFiles = {
  /** Relative to the folder of the configuration. */
  readonly files: readonly string[];
  readonly namespace?: string | undefined;
  readonly host?: string | undefined;
};

/** Returns the entries of `targets` in their long form. */
export const targetFilesOf = ({ targets: entries = [] }: Config): readonly TargetFiles[] =>
  entries.map((entry) => (typeof entry === 'string' ? { files: [entry] } : entry));

// Limits of globs. A matcher tries every way in which the stars can share a name among them, and every choice of the
// braces, so a pattern of a few dozen characters could take hours.

/** Names that the braces of one pattern may stand for. */
const choicesMax = 100;
/** Braces in braces. */
const depthMax = 8;
const foldersMax = 2;
/** Between two slashes. */
const starsMax = 3;

/** Returns why the pattern is refused; undefined if it is not. A name without wildcards is none. */
export function globProblem(pattern: string): string | undefined {
  if (/[?*+@!]\(/.test(pattern)) return 'has a parenthesis behind a wildcard; wildcards are *, **, ?, [...] and {...}';
  const parts = pattern.split('/');
  if (parts.filter((part) => part.includes('**')).length > foldersMax) return `has ** more than ${foldersMax} times`;
  if (parts.some((part) => part.replaceAll('**', '').split('*').length - 1 > starsMax))
    return `has * more than ${starsMax} times between two slashes`;
  return bracesProblem(pattern);
}

/** How many names a part of the pattern stands for: its present alternative, and those before it in the same braces. */
type Choices = { readonly inAlternative: number; readonly before: number };

function bracesProblem(pattern: string): string | undefined {
  // In a path, two full stops stand beside a slash. (Elsewhere they are a sequence.)
  if (pattern.includes('{') && /[^/]\.\.[^/]/.test(pattern))
    return 'has a sequence in braces: name each choice, as in {a,b}';
  let present: Choices = { inAlternative: 1, before: 0 };
  /** The choices of the braces around the present ones, innermost last, and of the whole. */
  const around: Choices[] = [];
  for (const character of pattern) {
    const outer = around.at(-1);
    if (character === '{') {
      around.push(present);
      present = { inAlternative: 1, before: 0 };
    } else if (character === ',' && outer)
      present = { inAlternative: 1, before: present.before + present.inAlternative };
    else if (character === '}' && outer) {
      around.pop();
      present = { ...outer, inAlternative: outer.inAlternative * (present.before + present.inAlternative) };
    }
    if (present.before + present.inAlternative > choicesMax || around.length > depthMax)
      return `has more than ${choicesMax} choices in braces`;
  }
  return undefined;
}
