/** `probelet get`: targets, probes and events as tables, YAML, JSON or names. */
import { type Command, Option } from 'commander';
import type { TargetView } from '../../../shared/api/target-schema.ts';
import type { NamedTarget } from '../../client/paths.ts';
import { apiCommand, connectionOf, flagsOf, type Session, withSession } from '../connection.ts';
import { documentText, type NamedItem, printItems } from '../documents.ts';
import type { CommandSetting } from '../program.ts';
import { type Resource, resourceWords, wantedOf } from '../resources.ts';
import { byName, noneFound, type Selection, selectedTargets, selectionOf } from '../selection.ts';
import { isColouredFor, type Row, rowsText, widthsOf } from '../tables.ts';
import { probeHead, probeRows, type RowStyle, targetHead, targetRow } from '../target-rows.ts';
import { watchedTargets } from '../watched-targets.ts';
import { type EventOptions, getEvents, limitOption } from './events.ts';

const examples = `
Examples:
  probelet get targets
  probelet get targets -A -o wide
  probelet get target checkout -o yaml
  probelet get probes -l team=shop -w`;

export const getCommand = (setting: CommandSetting): Command =>
  apiCommand('get')
    .description('print targets, probes or events')
    .argument('<resource...>', `${resourceWords.join(', ')}; then names, as in target/NAME or target NAME`)
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <labels>', 'with these labels, such as team=shop,tier!=test')
    .option('-w, --watch', 'keep printing what changes, until interrupted')
    .addOption(limitOption())
    .addOption(new Option('-o, --output <format>', 'format').choices(['wide', 'yaml', 'json', 'name']))
    .addHelpText('after', examples)
    .action((words: readonly string[], _options: EventOptions, command: Command) => get(setting, words, command));

async function get(setting: CommandSetting, words: readonly string[], command: Command): Promise<void> {
  const { io } = setting;
  const options = command.opts<EventOptions>();
  const { resource, names } = wantedOf(words);
  const connection = connectionOf(flagsOf(command), io.env);
  const selection = selectionOf(names, options, connection);
  const stop = options.watch ? { stop: io.interrupted() } : {};
  await withSession(connection, { io, ...stop }, async (session) => {
    if (resource === 'events') return getEvents({ ...setting, session, selection }, options);
    const getting: Getting = { ...setting, session, selection, resource, options };
    if (options.watch) return watchRows(getting);
    return options.output === undefined || options.output === 'wide' ? printTable(getting) : printDocuments(getting);
  });
}

type Getting = CommandSetting & {
  readonly session: Session;
  readonly selection: Selection;
  readonly resource: Exclude<Resource, 'events'>;
  readonly options: EventOptions;
};

async function printTable(getting: Getting): Promise<void> {
  const { io, selection, resource } = getting;
  // Only the rows are kept: targets may be many.
  const rows: Row[] = [];
  try {
    for await (const own of inOrderOfNames(getting, (target) => rowsOf(getting, target))) rows.push(...own);
  } finally {
    if (rows.length > 0) io.out(rowsText([headOf(getting), ...rows], { isColoured: isColouredFor(io) }));
  }
  if (rows.length === 0) io.err(noneFound(resource, selection));
}

/**
 * What is shown of each target, sorted here: the API would read all targets again for each page of a sorted list. What
 * was found comes before the error that says what was not.
 */
async function* inOrderOfNames<Shown>({ session, selection }: Getting, shownOf: (target: TargetView) => Shown) {
  const found: (NamedTarget & { readonly shown: Shown })[] = [];
  try {
    for await (const target of selectedTargets(session, selection)) {
      const { namespace, name } = target.metadata;
      found.push({ namespace, name, shown: shownOf(target) });
    }
  } finally {
    for (const { shown } of found.toSorted(byName)) yield shown;
  }
}

const styleOf = ({ options }: Getting): RowStyle => ({
  hasNamespace: options.allNamespaces === true,
  isWide: options.output === 'wide',
});

const headOf = (getting: Getting): Row =>
  getting.resource === 'targets' ? targetHead(styleOf(getting)) : probeHead(styleOf(getting));

function rowsOf(getting: Getting, target: TargetView): readonly Row[] {
  const nowMs = getting.io.clock.nowMs();
  const style = styleOf(getting);
  return getting.resource === 'targets' ? [targetRow(target, style, nowMs)] : probeRows(target, style, nowMs);
}

/** Targets as the API shows them; of each probe its status, with the target that it is of. */
function itemsOf({ resource }: Getting, target: TargetView): readonly NamedItem[] {
  const { namespace, name } = target.metadata;
  if (resource === 'targets') return [{ name: `target/${name}`, value: target }];
  return target.status.probes.map((probe) => ({
    name: `probe/${name}/${probe.container}/${probe.probeType}`,
    value: { namespace, target: name, ...probe },
  }));
}

async function printDocuments(getting: Getting): Promise<void> {
  const { io, selection, resource, options } = getting;
  const { output: format } = options;
  if (format === undefined || format === 'wide') return;
  const isList = selection.names.length !== 1 || resource !== 'targets';
  const items = async function* () {
    for await (const own of inOrderOfNames(getting, (target) => itemsOf(getting, target))) yield* own;
  };
  const kind = resource === 'targets' ? 'TargetList' : 'ProbeList';
  const count = await printItems(items(), { format, isList, kind }, io.out);
  if (count === 0 && format === 'name') io.err(noneFound(resource, selection));
}

/** Prints the rows of a target again whenever they differ from what was printed, apart from ages. */
async function watchRows(getting: Getting): Promise<void> {
  const { session, selection } = getting;
  const printer = changePrinter(getting);
  for await (const seen of watchedTargets(session, selection)) {
    if (seen.kind === 'changed') printer.print([seen.target]);
    else printer.print(seen.targets.toSorted((a, b) => byName(a.metadata, b.metadata)));
  }
}

function changePrinter(getting: Getting) {
  const { io, options } = getting;
  const { output } = options;
  const printed = new Map<string, string>();
  let widths: readonly number[] | undefined;
  const isNew = (target: TargetView): boolean => {
    const { namespace, name, uid } = target.metadata;
    const state = JSON.stringify([uid, target.metadata.resourceVersion, shownState(getting, target)]);
    const isKnown = printed.get(`${namespace}/${name}`) === state;
    printed.set(`${namespace}/${name}`, state);
    return !isKnown;
  };
  const rowsFor = (targets: readonly TargetView[]): void => {
    const rows = targets.flatMap((target) => rowsOf(getting, target));
    if (rows.length === 0) return;
    const head = widths ? [] : [headOf(getting)];
    widths ??= widthsOf([...head, ...rows]);
    io.out(rowsText([...head, ...rows], { isColoured: isColouredFor(io), widths }));
  };
  return {
    print(targets: readonly TargetView[]): void {
      const changed = targets.filter(isNew);
      if (output === undefined || output === 'wide') rowsFor(changed);
      else
        for (const { name, value } of changed.flatMap((target) => itemsOf(getting, target)))
          io.out(output === 'name' ? `${name}\n` : `${output === 'yaml' ? '---\n' : ''}${documentText(value, output)}`);
    },
  };
}

/** What a row shows, without its ages. */
function shownState({ resource }: Getting, { status, metadata }: TargetView): unknown {
  const probes = status.probes.map(({ lastProbeTime: _, ...probe }) => probe);
  if (resource === 'probes') return probes;
  const { deletionTimestamp } = metadata;
  return [deletionTimestamp, status.phase, status.conditions, status.containerStatuses, probes];
}
