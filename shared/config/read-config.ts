/** Reads the configuration file. Each problem has its place in the file and its field. */
import type * as z from 'zod';
import { nearest } from '../lib/nearest.ts';
import type { Path, Place } from '../manifest/manifest.ts';
import { type FileProblem, readFile } from '../manifest/read.ts';
import { type Config, configSchema } from './config-schema.ts';

export type ReadConfig =
  | { readonly kind: 'config'; readonly config: Config; readonly placeOf: (path: Path) => Place }
  | { readonly kind: 'invalid'; readonly problems: readonly FileProblem[] };

/** Parses YAML or JSON of one document. */
export function parseConfig(text: string): ReadConfig {
  const read = readFile(text);
  if (read.kind === 'unreadable') return { kind: 'invalid', problems: read.problems };
  const [document, ...others] = read.documents;
  if (!document) return refusedFile('is empty: it needs targets, or alerts and receivers');
  if (others.length > 0) return refusedFile('has several documents: put all into one');
  const parsed = configSchema.safeParse(document.value);
  if (parsed.success) return { kind: 'config', config: parsed.data, placeOf: document.placeOf };
  const problems = parsed.error.issues.flatMap(narrowed).map((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    return { ...document.placeOf(placedPath(issue, path)), detail: `${configField(path)}: ${detailOf(issue)}` };
  });
  return { kind: 'invalid', problems };
}

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

function detailOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return issue.message;
  const [key = ''] = issue.keys;
  const meant = nearest(key, fieldNames);
  return `there is no field ${key}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

const fieldNames = [
  ...['targets', 'files', 'namespace', 'host'],
  ...['alerts', 'receivers', 'name', 'match', 'namespaces', 'labels', 'pattern', 'for', 'remind', 'sendResolved'],
  ...['onUnknown', 'groupBy', 'silences', 'notify', 'until', 'reason', 'names', 'webhook', 'slack', 'teams', 'discord'],
  ...['pagerduty', 'opsgenie', 'alertmanager', 'url', 'secret', 'routingKey', 'apiKey', 'env', 'file', 'email'],
  ...['port', 'tls', 'caFile', 'user', 'password', 'from', 'to', 'exec', 'command'],
];

function configField(path: Path): string {
  if (path.length === 0) return 'the file';
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}
