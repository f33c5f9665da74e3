/** `probelet describe`: all about a target, for people. */
import type { Command } from 'commander';
import type { ContainerStatusView, ContainerView, TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { CommandSetting, Io } from '../io.ts';
import { ageText, sinceText } from '../printing/durations.ts';
import { indented, joined, nothing, type Printable, printedLine, printedLines } from '../printing/printable.ts';
import { probesOf, probeText } from '../printing/probe-text.ts';
import {
  eventHead,
  eventRow,
  none,
  pairsText,
  probeHead,
  probeRows,
  statusText,
  type TargetEvent,
} from '../printing/rows.ts';
import { type Row, tableText } from '../printing/tables.ts';
import { apiCommand, connectionOf, flagsOf, withSession } from '../server/connection.ts';
import { selectedTargets } from '../server/selection.ts';
import { targetNames } from '../words/resources.ts';
import { eventsOf } from './events.ts';

const eventsMax = 20;

const examples = `
Examples:
  probelet describe target/checkout
  probelet describe target a b -n shop`;

export const describeCommand = ({ io }: CommandSetting): Command =>
  apiCommand('describe')
    .description('print all about targets: conditions, containers, probes and their last events')
    .argument('<target...>', 'target/NAME, or target NAME')
    .addHelpText('after', examples)
    .action(async (words: readonly string[], _options: object, command: Command) => {
      const names = targetNames(words);
      const connection = connectionOf(flagsOf(command), io.env);
      await withSession(connection, { io }, async (session) => {
        let count = 0;
        for await (const target of selectedTargets(session, { names, namespace: connection.namespace })) {
          const events = await eventsOf(session, [target], eventsMax);
          io.out(joined([count === 0 ? nothing : between, describedTarget(target, events, io)]));
          count += 1;
        }
      });
    });

/** Between two targets. */
const between = printedLines(['', '']);

function describedTarget(target: TargetView, events: readonly TargetEvent[], io: Io): Printable {
  const nowMs = io.clock.nowMs();
  const { conditions, containerStatuses, initContainerStatuses } = target.status;
  const style = { hasNamespace: false, isWide: true, isOfOne: true };
  const { initContainers, containers } = target.spec;
  return joined([
    tableText(fieldsOf(target), io),
    ...(initContainers.length === 0
      ? []
      : [containersText('Init Containers', initContainers, initContainerStatuses, nowMs)]),
    containersText('Containers', containers, containerStatuses, nowMs),
    section('Conditions', [conditionHead, ...conditions.map((each) => conditionRow(each, nowMs))], io),
    section('Probes', [probeHead(style), ...probeRows(target, style, nowMs)], io),
    section('Events', [eventHead(false), ...events.map((each) => eventRow(each, false, nowMs))].map(withoutObject), io),
  ]);
}

/** All events are of the target. */
const withoutObject = (row: Row): Row => row.toSpliced(objectColumn, 1);
const objectColumn = 3;

/** A head without rows is not printed. */
function section(name: string, rows: readonly Row[], io: Io): Printable {
  if (rows.length === 1) return printedLine(`${name}: ${none}`);
  return joined([printedLine(`${name}:`), indented(tableText(rows, io), '  ')]);
}

function fieldsOf(target: TargetView): readonly Row[] {
  const { metadata, spec, status } = target;
  return [
    ['Name:', metadata.name],
    ['Namespace:', metadata.namespace],
    ['Labels:', pairsText(metadata.labels, ', ')],
    ['Annotations:', pairsText(metadata.annotations, ', ')],
    ['Host:', spec.host],
    ['Lifecycle:', spec.lifecycle],
    ['Created:', metadata.creationTimestamp],
    ...(metadata.deletionTimestamp === undefined ? [] : [['Terminates:', metadata.deletionTimestamp]]),
    ['Status:', statusText(target)],
    ...(status.message === undefined ? [] : [['Message:', status.message]]),
  ];
}

const conditionHead: Row = ['TYPE', 'STATUS', 'SINCE', 'REASON', 'MESSAGE'];

const conditionRow = (condition: TargetView['status']['conditions'][number], nowMs: number): Row => [
  condition.type,
  condition.status,
  sinceText(condition.lastTransitionTime, nowMs),
  condition.reason ?? '',
  condition.message ?? '',
];

/** As `kubectl describe pod` shows containers: a block for each, in which each field has a line. */
function containersText(
  heading: string,
  containers: readonly ContainerView[],
  statuses: readonly ContainerStatusView[],
  nowMs: number,
): Printable {
  const blocks = containers.map((container) => {
    const status = statuses.find(({ name }) => name === container.name);
    const fields = [...(status ? statusFields(status, nowMs) : []), ...specFields(container)];
    const lines = fields.map(([field, value]) => `${`    ${field}:`.padEnd(fieldWidth)}${value}`);
    return printedLines([`  ${container.name}:`, ...lines]);
  });
  return joined([printedLine(`${heading}:`), ...blocks]);
}

type Field = readonly [name: string, value: string];

/** With which the longest name stands a blank before its value. */
const fieldWidth = '    Restart Request:  '.length;

function statusFields(status: ContainerStatusView, nowMs: number): readonly Field[] {
  const { containerID, state, lastState, ready, started, restartCount, restartRequest } = status;
  return [
    ['Container ID', containerID ?? none],
    ...stateFields('State', state),
    ...(Object.keys(lastState).length === 0 ? [] : stateFields('Last State', lastState)),
    ['Ready', title(ready)],
    ...(started === undefined ? [] : [['Started', title(started)] as const]),
    ['Restart Count', `${restartCount}`],
    ...(restartRequest ? [['Restart Request', requestText(restartRequest, nowMs)] as const] : []),
  ];
}

const title = (flag: boolean): string => (flag ? 'True' : 'False');

type RestartRequestView = NonNullable<ContainerStatusView['restartRequest']>;

function requestText({ probeType, requestedAt, attempts, nextAttemptAt }: RestartRequestView, nowMs: number): string {
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  const next = Math.max(0, Date.parse(nextAttemptAt) - nowMs);
  return `requested ${times} since ${probeType} failed ${sinceText(requestedAt, nowMs)} ago, again in ${ageText(next)}`;
}

function stateFields(name: string, { running, waiting, terminated }: ContainerStatusView['state']): readonly Field[] {
  if (running)
    return [
      [name, 'Running'],
      ['  Started', running.startedAt],
    ];
  if (waiting) return [[name, 'Waiting'], ...given('  Reason', waiting.reason), ...given('  Message', waiting.message)];
  if (!terminated) return [[name, none]];
  const { reason, message, exitCode, startedAt, finishedAt } = terminated;
  return [
    [name, 'Terminated'],
    ...given('  Reason', reason),
    ...given('  Message', message),
    ['  Exit Code', `${exitCode}`],
    ...given('  Started', startedAt),
    ...given('  Finished', finishedAt),
  ];
}

const given = (name: string, value: string | undefined): readonly Field[] =>
  value === undefined ? [] : [[name, value]];

const specFields = (container: ContainerView): readonly Field[] => [
  ...(container.ports ?? []).map(
    ({ name, containerPort }): Field => ['Port', `${containerPort}${name === undefined ? '' : ` (${name})`}`],
  ),
  ...probesOf(container).map(([name, probe]): Field => [name, probeText(probe)]),
];
