/**
 * The silences of a configuration. The file is their only home: one more is written into it, and a process that follows
 * the file takes it in within a second.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isCollection, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import type { AlertEntry, SilenceEntry } from '../../../shared/alerts/alert-config.ts';
import { parseConfig } from '../../../shared/config/read-config.ts';
import { readFault } from '../../../shared/lib/bounded-file.ts';
import { nearest } from '../../../shared/lib/nearest.ts';
import type { Row } from '../printing/tables.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { replaceFile } from './replaced-file.ts';

export type AlertsFile = { readonly path: string; readonly text: string; readonly alerts: readonly AlertEntry[] };

/** Permissions of a file, without its kind. */
const modeBits = 0o777;

/** @throws CliError that names each mistake of the file with its place, one a line */
export function readAlerts(path: string): AlertsFile {
  const text = textOf(path);
  const read = parseConfig(text);
  if (read.kind === 'config') return { path, text, alerts: read.config.alerts ?? [] };
  const lines = read.problems.map(({ line, column, detail }) => `${path}:${line}:${column}: ${detail}`);
  const [first = '', ...more] = lines;
  throw new CliError(first, exitCodes.failed, more);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`${path} ${readFault(error)}`);
  }
}

/** The alerts of these names, or all. @throws CliError if one is not there */
export function namedAlerts({ path, alerts }: AlertsFile, names: readonly string[]): readonly AlertEntry[] {
  const known = alerts.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, known);
    const hint = meant === undefined ? `there are ${known.join(', ') || 'none'}` : `did you mean ${meant}?`;
    throw new CliError(`${path} has no alert ${unknown}: ${hint}`, exitCodes.notFound);
  }
  if (known.length === 0) throw new CliError(`${path} has no alerts`, exitCodes.notFound);
  return names.length === 0 ? alerts : alerts.filter(({ name }) => names.includes(name));
}

/**
 * Writes the silence into the file, for each of these alerts. The rest of the text stays as it is, comments included.
 * @throws CliError
 */
export function addSilence({ path, text, alerts }: AlertsFile, names: readonly string[], silence: SilenceEntry): void {
  const list = parseDocument(text, { merge: true }).getIn(['alerts'], true);
  const insertions = alerts.flatMap(({ name }, index) =>
    names.includes(name) && isCollection(list) ? [insertionOf(text, list.getIn([index], true), silence)] : [],
  );
  const changed = insertions
    .toSorted((one, other) => other.offset - one.offset)
    .reduce((so, { offset, added }) => so.slice(0, offset) + added + so.slice(offset), text);
  const wanted = alerts.map((alert) =>
    names.includes(alert.name) ? { ...alert, silences: [...(alert.silences ?? []), silence] } : alert,
  );
  const read = parseConfig(changed);
  // Where anchors are shared, or the style is a rare one.
  if (read.kind === 'invalid' || !isDeepStrictEqual(read.config.alerts, wanted))
    throw new CliError(`${path} cannot be changed by this command: add the silence by hand`);
  const real = realpathSync(path);
  replaceFile(real, changed, statSync(real).mode & modeBits);
}

type Insertion = { readonly offset: number; readonly added: string };

/** `alert`: the node of one alert in the text. */
function insertionOf(text: string, alert: unknown, silence: SilenceEntry): Insertion {
  // JSON is YAML, too.
  const value = JSON.stringify(silence);
  if (!isMap(alert)) return { offset: 0, added: '' };
  const silences = alert.get('silences', true);
  if (isSeq(silences)) return behindLast(text, silences, silences.flow ? value : `- ${value}`);
  const key = text.trimStart().startsWith('{') ? '"silences"' : 'silences';
  return behindLast(text, alert, `${key}: [${value}]`);
}

/** Behind the last entry of a flow collection, or on a line of its own below that of a block collection. */
function behindLast(text: string, collection: YAMLMap | YAMLSeq, entry: string): Insertion {
  const [start, end] = collection.range ?? [0, 0];
  if (!collection.flow) {
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    const indent = ' '.repeat(start - lineStart);
    const content = text.slice(0, end).trimEnd();
    const lineEnd = text.indexOf('\n', content.length);
    return { offset: lineEnd < 0 ? text.length : lineEnd, added: `\n${indent}${entry}` };
  }
  const content = text.slice(start, end - 1).trimEnd();
  const isEmpty = collection.items.length === 0;
  const separator = isEmpty ? '' : content.endsWith(',') ? ' ' : ', ';
  return { offset: start + content.length, added: separator + entry };
}

export const silenceHead: Row = ['ALERT', 'TARGETS', 'FROM', 'UNTIL', 'STATE', 'REASON'];

export type ListedSilence = SilenceEntry & { readonly alert: string; readonly state: SilenceState };

type SilenceState = 'active' | 'pending' | 'ended';

export const listedSilences = (alerts: readonly AlertEntry[], nowMs: number): readonly ListedSilence[] =>
  alerts.flatMap(({ name, silences = [] }) =>
    silences.map((silence) => ({ alert: name, state: stateOf(silence, nowMs), ...silence })),
  );

function stateOf({ from, until }: SilenceEntry, nowMs: number): SilenceState {
  if (Date.parse(until) <= nowMs) return 'ended';
  return from !== undefined && Date.parse(from) > nowMs ? 'pending' : 'active';
}

export const silenceRow = ({ alert, state, match, from = '<none>', until, reason }: ListedSilence): Row => [
  alert,
  targetsText(match),
  from,
  until,
  state,
  reason,
];

function targetsText({ namespaces, names, labels }: SilenceEntry['match']): string {
  const parts = [
    ...(namespaces ? [`namespace ${namespaces.join(', ')}`] : []),
    ...(names ? [`name ${names.join(', ')}`] : []),
    ...(labels === undefined ? [] : [labels]),
  ];
  return parts.join('; ') || 'all';
}
