/** Reads the file of alerts. Each problem has the place in the file and the field. */

import { nearest } from '../lib/nearest.ts';
import type { Path, Place } from '../manifest/manifest.ts';
import { type FileProblem, readFile } from '../manifest/read.ts';
import { type AlertConfig, alertConfigSchema } from './alert-config.ts';

export type ReadAlerts =
  | { readonly kind: 'config'; readonly config: AlertConfig; readonly placeOf: (path: Path) => Place }
  | { readonly kind: 'invalid'; readonly problems: readonly FileProblem[] };

/** Parses YAML or JSON of one document. */
export function readAlertConfig(text: string): ReadAlerts {
  const read = readFile(text);
  if (read.kind === 'unreadable') return { kind: 'invalid', problems: read.problems };
  const [document, ...others] = read.documents;
  if (!document) return refusedFile('is empty: it needs alerts and receivers');
  if (others.length > 0) return refusedFile('has several documents: put all alerts into one');
  const parsed = alertConfigSchema.safeParse(document.value);
  if (parsed.success) return { kind: 'config', config: parsed.data, placeOf: document.placeOf };
  const problems = parsed.error.issues.map((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    return { ...document.placeOf(pathOf(issue, path)), detail: `${fieldText(path)}: ${detailOf(issue)}` };
  });
  return { kind: 'invalid', problems };
}

type Issue = { readonly code?: string | undefined; readonly message: string; readonly keys?: readonly string[] };

const refusedFile = (detail: string): ReadAlerts => ({ kind: 'invalid', problems: [{ line: 1, column: 1, detail }] });

const pathOf = ({ code, keys = [] }: Issue, path: Path): Path =>
  code === 'unrecognized_keys' ? [...path, ...keys.slice(0, 1)] : path;

function detailOf({ code, keys = [], message }: Issue): string {
  if (code !== 'unrecognized_keys') return message;
  const [key = ''] = keys;
  const meant = nearest(key, fieldNames);
  return `there is no field ${key}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

const fieldNames = [
  ...['alerts', 'receivers', 'name', 'match', 'namespaces', 'labels', 'pattern', 'for', 'remind', 'sendResolved'],
  ...['onUnknown', 'groupBy', 'silences', 'notify', 'until', 'reason', 'names', 'webhook', 'slack', 'teams', 'discord'],
  ...['pagerduty', 'opsgenie', 'alertmanager', 'url', 'secret', 'routingKey', 'apiKey', 'env', 'file'],
];

function fieldText(path: Path): string {
  if (path.length === 0) return 'the file';
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}
