/** `probelet events`: the last events of targets, and those that come. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { CommandSetting, Io } from '../io.ts';
import { itemText, type NamedItem, printItems } from '../printing/documents.ts';
import { type Output, outputOption } from '../printing/output.ts';
import { eventHead, eventRow, type TargetEvent } from '../printing/rows.ts';
import { type SortPath, sortedByKey, sortKeyIn, sortOption } from '../printing/sorting.ts';
import { isColouredFor, type Row, rowsText, widthsOf } from '../printing/tables.ts';
import {
  apiCommand,
  connectionOf,
  flagsOf,
  listCharactersMax,
  type Session,
  withSession,
} from '../server/connection.ts';
import {
  noneFound,
  printedStates,
  type Selection,
  type SelectionOptions,
  selectedTargets,
  selectionOf,
  watchedTargets,
} from '../server/selection.ts';
import { CliError, WrongUse } from '../words/exit-codes.ts';

export type EventOptions = SelectionOptions & {
  readonly watch?: boolean;
  readonly output?: Output;
  readonly limit?: number;
  readonly sortBy?: SortPath;
  /** `--no-headers` */
  readonly headers?: boolean;
};

/** The API has events of one target in an answer, so those of many cost as many requests. */
const eventTargetsMax = 500;
const atOnce = 8;
const limitMax = 500;
const limitDefault = 20;
/** ItemStyle events that are remembered while watching. */
const printedMax = 50_000;

export const limitOption = (): Option =>
  new Option('--limit <number>', `the last so many of each target (default: ${limitDefault})`).argParser((text) => {
    const number = Number(text);
    if (/^\d{1,3}$/.test(text) && number >= 1 && number <= limitMax) return number;
    throw new InvalidArgumentError(`must be a number from 1 to ${limitMax}`);
  });

const examples = `
Examples:
  probelet events
  probelet events checkout --limit 100
  probelet events -A -l team=shop -w`;

export const eventsCommand = (setting: CommandSetting): Command =>
  apiCommand('events')
    .description('print the last events of targets, oldest first')
    .argument('[name...]', 'targets (default: all of the namespace)')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <labels>', 'of targets with these labels')
    .option('-w, --watch', 'keep printing events, until interrupted')
    .addOption(limitOption())
    .addOption(sortOption())
    .option('--no-headers', 'without the heads of the columns')
    .addOption(outputOption(['yaml', 'json', 'name']))
    .addHelpText('after', examples)
    .action(async (names: readonly string[], _options: EventOptions, command: Command) => {
      const { io } = setting;
      const options = command.opts<EventOptions>();
      const connection = connectionOf(flagsOf(command), io.env);
      const selection = selectionOf(names.map(withoutKind), options, connection);
      const stop = options.watch ? { stop: io.interrupted() } : {};
      await withSession(connection, { io, ...stop }, (session) => getEvents({ io, session, selection }, options));
    });

const withoutKind = (name: string): string => name.replace(/^targets?\//, '');

export type EventQuery = { readonly io: Io; readonly session: Session; readonly selection: Selection };

/** Prints the events of the selected targets. */
export async function getEvents(query: EventQuery, options: EventOptions): Promise<void> {
  const { io, session, selection } = query;
  const { output, limit = limitDefault, headers: hasHead = true } = options;
  const printer = eventPrinter(query, options);
  if (options.watch) {
    if (options.sortBy) throw new WrongUse('--watch does not go with --sort-by');
    for await (const seen of watchedTargets(session, selection)) {
      const targets = seen.kind === 'listed' ? seen.targets : [seen.target];
      if (targets.length > eventTargetsMax) throw tooManyTargets();
      printer(await eventsOf(session, targets, limit));
    }
    return;
  }
  const events = inOrder(await eventsOf(session, await boundedTargets(session, selection), limit), options.sortBy);
  if (output && output.kind !== 'wide') {
    const items = async function* () {
      yield* events.map(eventItem);
    };
    await printItems(items(), { output, isList: true, kind: 'EventList', hasHead }, io.out);
  } else printer(events);
  const isDocument = output !== undefined && output.kind !== 'wide';
  const isEmptyDocument = isDocument && !(output.kind === 'document' && output.format === 'name');
  if (events.length === 0 && !isEmptyDocument) io.err(noneFound('events', selection));
}

function inOrder(events: readonly TargetEvent[], sortBy: SortPath | undefined): readonly TargetEvent[] {
  if (!sortBy) return events;
  const keyed = events.map((event) => ({ event, key: sortKeyIn(sortBy, eventItem(event).value) }));
  return sortedByKey(keyed, sortBy).map(({ event }) => event);
}

const eventItem = ({ namespace, target, event }: TargetEvent): NamedItem => ({
  name: `event/${event.id}`,
  value: { namespace, target, ...event },
});

const tooManyTargets = (): CliError =>
  new CliError(`there are more than ${eventTargetsMax} targets: name some, or select them by --selector`);

async function boundedTargets(session: Session, selection: Selection): Promise<readonly TargetView[]> {
  const targets: TargetView[] = [];
  for await (const target of selectedTargets(session, selection)) {
    if (targets.length === eventTargetsMax) throw tooManyTargets();
    targets.push(target);
  }
  return targets;
}

/** Oldest first, of all targets together. @throws CliError for more than are kept */
export async function eventsOf(
  { client }: Session,
  targets: readonly TargetView[],
  limit: number,
): Promise<readonly TargetEvent[]> {
  const found: TargetEvent[] = [];
  let characters = 0;
  for (let from = 0; from < targets.length; from += atOnce) {
    const some = targets.slice(from, from + atOnce).map(async ({ metadata: { namespace, name } }) => {
      const events = (await client.events({ namespace, name }, limit)) ?? [];
      return events.map((event) => ({ namespace, target: name, event }));
    });
    for (const events of await Promise.all(some)) {
      characters += JSON.stringify(events).length;
      if (characters > listCharactersMax) throw new CliError('there are too many events: name some of the targets');
      found.push(...events);
    }
  }
  return found.toSorted(({ event: a }, { event: b }) => Date.parse(a.time) - Date.parse(b.time));
}

/** Prints those that it has not printed, or that have occurred again. */
function eventPrinter({ io, selection }: EventQuery, { output, headers = true }: EventOptions) {
  const hasNamespace = selection.namespace === undefined;
  const isNewState = printedStates(printedMax);
  let widths: readonly number[] | undefined;
  let isFirst = true;
  const isNew = ({ namespace, target, event }: TargetEvent): boolean =>
    isNewState(`${namespace}/${target}/${event.id}#${event.count}`, '');
  return (events: readonly TargetEvent[]): void => {
    const fresh = events.filter(isNew);
    if (fresh.length === 0) return;
    if (output && output.kind !== 'wide') {
      for (const item of fresh.map(eventItem)) {
        io.out(itemText(item, output, isFirst && headers));
        isFirst = false;
      }
      return;
    }
    const rows: readonly Row[] = fresh.map((each) => eventRow(each, hasNamespace, io.clock.nowMs()));
    const head = widths || !headers ? [] : [eventHead(hasNamespace)];
    widths ??= widthsOf([...head, ...rows]);
    io.out(rowsText([...head, ...rows], { isColoured: isColouredFor(io), widths }));
  };
}
