/** Reads the configuration file. Each problem has its place in the file and its field. */
import type * as z from 'zod';
import { fieldsAt } from '../api/schema/shape.ts';
import { issueDetail } from '../lib/issue-detail.ts';
import { nearest } from '../lib/nearest.ts';
import type { Path, Place } from '../manifest/manifest.ts';
import { type FileProblem, readFile } from '../manifest/read.ts';
import { isMembers } from '../manifest/values.ts';
import { type Config, configSchema } from './config-schema.ts';

export type ReadConfig =
  /** `receivers`: the place of each. */
  | { readonly kind: 'config'; readonly config: Config; readonly receivers: readonly Place[] }
  | { readonly kind: 'invalid'; readonly problems: readonly FileProblem[] };

/** Parses YAML or JSON of one document. */
export function parseConfig(text: string): ReadConfig {
  const read = readFile(text);
  if (read.kind === 'unreadable') return { kind: 'invalid', problems: read.problems };
  const [document, ...others] = read.documents;
  if (!document) return refusedFile('is empty: it needs targets, or alerts and receivers');
  if (others.length > 0) return refusedFile('has several documents: put all into one');
  const parsed = configSchema.safeParse(document.value);
  if (parsed.success) {
    const { receivers = [] } = parsed.data;
    const places = receivers.map((_, index) => document.placeOf(['receivers', index]));
    return { kind: 'config', config: parsed.data, receivers: places };
  }
  const other = otherFormats.find(([field]) => isMembers(document.value) && document.value[field] !== undefined);
  if (other) return refusedFile(`is ${other[1]}: name it in a configuration of probelet, as in "targets: [FILE]"`);
  const problems = parsed.error.issues.flatMap(narrowed).map((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    return {
      ...document.placeOf(placedPath(issue, path)),
      detail: `${configField(path)}: ${detailOf(issue, document.value)}`,
    };
  });
  return { kind: 'invalid', problems };
}

/**
 * Fields that no configuration has, and what a file with them is. The formats themselves would tell more exactly, but
 * they are loaded only where files are converted.
 */
const otherFormats: readonly (readonly [field: string, what: string])[] = [
  ['endpoints', 'a configuration of Gatus'],
  ['services', 'a Compose file'],
  ['kind', 'a manifest'],
  ['spec', 'a manifest'],
];

const refusedFile = (detail: string): ReadConfig => ({ kind: 'invalid', problems: [{ line: 1, column: 1, detail }] });

/** What is wrong in a value of several forms, if only one of them can be meant. */
function narrowed(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors.filter((form) => !form.some(({ code, path }) => code === 'invalid_type' && !path.length));
  const [form, ...others] = meant;
  if (!form || others.length > 0) return [issue];
  return form.map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
}

const placedPath = (issue: z.core.$ZodIssue, path: Path): Path =>
  issue.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path;

function detailOf(issue: z.core.$ZodIssue, root: unknown): string {
  if (issue.code !== 'unrecognized_keys') return issueDetail(issue, root);
  const [key = ''] = issue.keys;
  const path = issue.path.map((token) => (typeof token === 'symbol' ? '' : token));
  const known = fieldsAt(configSchema, path);
  const meant = nearest(key, known);
  return `there is no field ${key}${meant === undefined ? `; there are ${known.join(', ')}` : ` (did you mean ${meant}?)`}`;
}

function configField(path: Path): string {
  if (path.length === 0) return 'the file';
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}
