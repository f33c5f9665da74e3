/**
 * The configuration file of one process: files of targets, alerts, and receivers. One zod schema gives the types, the
 * errors and the published JSON Schema.
 */
import * as z from 'zod';
import { alertFields, nameProblems } from '../alerts/alert-config.ts';
import { hostDetail } from '../core/spec/host-detail.ts';
import { isDnsLabel, isHost } from '../core/spec/names.ts';
import { globProblem } from './glob-limits.ts';

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
