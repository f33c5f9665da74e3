/** `probelet get`: targets, probes and events as tables, YAML, JSON or names. */
import { type Command, Option } from 'commander';
import { configFileAnnotation } from '../../../shared/api/schema/annotations.ts';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ReadyValue } from '../../../shared/api/targets/target-viewer.ts';
import type { NamedTarget } from '../../client/answers.ts';
import type { CommandSetting, Io } from '../io.ts';
import { type ItemStyle, itemText, type NamedItem, printItems } from '../printing/documents.ts';
import { outputOption } from '../printing/output.ts';
import { probeHead, probeRows, type RowStyle, targetHead, targetRow } from '../printing/rows.ts';
import { sortedByKey, sortKeyIn, sortOption } from '../printing/sorting.ts';
import { isColouredFor, type Row, rowsText, widthsOf } from '../printing/tables.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../server/connection.ts';
import {
  byName,
  noneFound,
  printedStates,
  type Selection,
  selectedTargets,
  selectionOf,
  watchedTargets,
} from '../server/selection.ts';
import { WrongUse } from '../words/exit-codes.ts';
import { type Resource, resourceWords, wantedOf } from '../words/resources.ts';
import { type EventOptions, getEvents, limitOption } from './events.ts';

const examples = `
Examples:
  probelet get targets
  probelet get targets -A -o wide --sort-by .metadata.creationTimestamp
  probelet get targets -A --not-ready --no-headers
  probelet get target checkout -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}'
  probelet get targets -o custom-columns=NAME:.metadata.name,HOST:.spec.host
  probelet get probes -l team=shop -w`;

export const getCommand = (setting: CommandSetting): Command =>
  apiCommand('get')
    .description('print targets, probes or events')
    .argument('<resource...>', `${resourceWords.join(', ')}; then names, as in target/NAME or target NAME`)
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <labels>', 'with these labels, such as team=shop,tier!=test')
    .option('--field-selector <fields>', 'with these fields, such as status.phase=Running,spec.host!=10.0.0.1')
    .addOption(new Option('--ready <status>', 'with this status of the condition Ready').choices(readyValues))
    .option('--not-ready', 'whose condition Ready is false or unknown')
    .option('-w, --watch', 'keep printing what changes, until interrupted')
    .addOption(limitOption())
    .addOption(sortOption())
    .option('--no-headers', 'without the heads of the columns')
    .option('--show-labels', 'the labels of targets as the last column')
    .addOption(outputOption(['wide', 'yaml', 'json', 'name']))
    .addHelpText('after', examples)
    .action((words: readonly string[], _options: Options, command: Command) => get(setting, words, command));

const readyValues = ['true', 'false', 'unknown'] as const satisfies readonly ReadyValue[];

type Options = EventOptions & { readonly showLabels?: boolean };

async function get(setting: CommandSetting, words: readonly string[], command: Command): Promise<void> {
  const { io } = setting;
  const options = command.opts<Options>();
  const { resource, names } = wantedOf(words);
  const connection = connectionOf(flagsOf(command), io.env);
  const selection = selectionOf(names, options, connection);
  if (options.watch && (options.sortBy || selection.fieldSelector !== undefined || selection.ready))
    throw new WrongUse('--watch goes with neither --sort-by, --field-selector, --ready nor --not-ready');
  const stop = options.watch ? { stop: io.interrupted() } : {};
  await withSession(connection, { io, ...stop }, async (session) => {
    if (resource === 'events') return getEvents({ ...setting, session, selection }, options);
    const context: GetContext = { ...setting, session, selection, resource, options };
    if (options.watch) return watchRows(context);
    const { output } = options;
    return output === undefined || output.kind === 'wide' ? printTable(context) : printDocuments(context, output);
  });
}

type GetContext = CommandSetting & {
  readonly session: Session;
  readonly selection: Selection;
  readonly resource: Exclude<Resource, 'events'>;
  readonly options: Options;
};

async function printTable(context: GetContext): Promise<void> {
  const { io, session, selection, resource } = context;
  // Only the rows are kept: targets may be many.
  const rows: Row[] = [];
  let isOfFiles = false;
  try {
    const shownOf = (target: TargetView) => {
      isOfFiles ||= target.metadata.annotations?.[configFileAnnotation] !== undefined;
      return rowsOf(context, target);
    };
    for await (const row of inWantedOrder(context, shownOf)) rows.push(row);
  } finally {
    if (rows.length > 0) io.out(rowsText([...headOf(context), ...rows], { isColoured: isColouredFor(io) }));
  }
  if (rows.length === 0) io.err(noneFound(resource, selection));
  const isWhole = resource === 'targets' && selection.names.length === 0;
  if (isWhole && isOfFiles) await reportNotMonitored(session, io);
}

/** For a server that has targets of a configuration: it takes another request. */
async function reportNotMonitored({ client }: Session, io: Io): Promise<void> {
  // A server that does not say its health has said its targets all the same.
  const { notMonitored = 0 } = (await client.health().catch(() => undefined)) ?? {};
  if (notMonitored > 0) io.err(notMonitoredText(notMonitored));
}

/** What is no target cannot be seen to be down. */
const notMonitoredText = (count: number): string =>
  count === 1
    ? 'One entry of the configured files is not monitored: the log of the server names it.'
    : `${count} entries of the configured files are not monitored: the log of the server names them.`;

/**
 * What is shown of each target, by name or as `--sort-by` says. It is sorted here: the API would read all targets again
 * for each page of a sorted list. What was found comes before the error that says what was not.
 */
async function* inWantedOrder<Shown>(context: GetContext, shownOf: (target: TargetView) => readonly Shown[]) {
  const { session, selection } = context;
  const { sortBy } = context.options;
  const found: (NamedTarget & { readonly shown: Shown; readonly key: unknown })[] = [];
  try {
    for await (const target of selectedTargets(session, selection)) {
      const { namespace, name } = target.metadata;
      const items = sortBy ? itemsOf(context, target) : [];
      for (const [index, shown] of shownOf(target).entries())
        found.push({ namespace, name, shown, key: sortBy && sortKeyIn(sortBy, items[index]?.value) });
    }
  } finally {
    const named = found.toSorted(byName);
    for (const { shown } of sortBy ? sortedByKey(named, sortBy) : named) yield shown;
  }
}

const styleOf = ({ options }: GetContext): RowStyle => ({
  hasNamespace: options.allNamespaces === true,
  isWide: options.output?.kind === 'wide',
  hasLabels: options.showLabels === true,
});

function headOf(context: GetContext): readonly Row[] {
  if (context.options.headers === false) return [];
  return [context.resource === 'targets' ? targetHead(styleOf(context)) : probeHead(styleOf(context))];
}

function rowsOf(context: GetContext, target: TargetView): readonly Row[] {
  const nowMs = context.io.clock.nowMs();
  const style = styleOf(context);
  return context.resource === 'targets' ? [targetRow(target, style, nowMs)] : probeRows(target, style, nowMs);
}

/** Targets as the API shows them; of each probe its status, with the target that it is of. */
function itemsOf({ resource }: GetContext, target: TargetView): readonly NamedItem[] {
  const { namespace, name } = target.metadata;
  if (resource === 'targets') return [{ name: `target/${name}`, value: target }];
  return target.status.probes.map((probe) => ({
    name: `probe/${name}/${probe.container}/${probe.probeType}`,
    value: { namespace, target: name, ...probe },
  }));
}

async function printDocuments(context: GetContext, output: ItemStyle['output']): Promise<void> {
  const { io, selection, resource, options } = context;
  const isList = selection.names.length !== 1 || resource !== 'targets';
  const items = inWantedOrder(context, (target) => itemsOf(context, target));
  const kind = resource === 'targets' ? 'TargetList' : 'ProbeList';
  const count = await printItems(items, { output, isList, kind, hasHead: options.headers !== false }, io.out);
  const isName = output.kind === 'document' && output.format === 'name';
  if (count === 0 && (isName || output.kind === 'columns')) io.err(noneFound(resource, selection));
}

/** Prints the rows of a target again whenever they differ from what was printed, apart from ages. */
async function watchRows(context: GetContext): Promise<void> {
  const { session, selection } = context;
  const printer = changePrinter(context);
  for await (const seen of watchedTargets(session, selection)) {
    if (seen.kind === 'changed') printer.print([seen.target]);
    else printer.print(seen.targets.toSorted((a, b) => byName(a.metadata, b.metadata)));
  }
}

/** Targets whose last state is known while watching. One that is forgotten is printed again with its next event. */
const rememberedMax = 100_000;

function changePrinter(context: GetContext) {
  const { io, options } = context;
  const { output } = options;
  const isNewState = printedStates(rememberedMax);
  let widths: readonly number[] | undefined;
  let isFirst = true;
  const isNew = (target: TargetView): boolean => {
    const { namespace, name, uid, resourceVersion } = target.metadata;
    const state = JSON.stringify([uid, resourceVersion, shownState(context, target)]);
    return isNewState(`${namespace}/${name}`, state);
  };
  const rowsFor = (targets: readonly TargetView[]): void => {
    const rows = targets.flatMap((target) => rowsOf(context, target));
    if (rows.length === 0) return;
    const head = widths ? [] : headOf(context);
    widths ??= widthsOf([...head, ...rows]);
    io.out(rowsText([...head, ...rows], { isColoured: isColouredFor(io), widths }));
  };
  const itemsFor = (targets: readonly TargetView[], printed: ItemStyle['output']): void => {
    for (const item of targets.flatMap((target) => itemsOf(context, target))) {
      io.out(itemText(item, printed, isFirst && options.headers !== false));
      isFirst = false;
    }
  };
  return {
    print(targets: readonly TargetView[]): void {
      const changed = targets.filter(isNew);
      if (output === undefined || output.kind === 'wide') rowsFor(changed);
      else itemsFor(changed, output);
    },
  };
}

/** What a row shows, without its ages. */
function shownState({ resource }: GetContext, { status, metadata }: TargetView): unknown {
  const probes = status.probes.map(({ lastProbeTime: _, ...probe }) => probe);
  if (resource === 'probes') return probes;
  const { deletionTimestamp } = metadata;
  return [deletionTimestamp, status.phase, status.conditions, status.containerStatuses, probes];
}
