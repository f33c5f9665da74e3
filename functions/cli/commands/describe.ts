/** `probelet describe`: all about a target, for people. */
import type { Command } from 'commander';
import type { ContainerStatusView, TargetView } from '../../../shared/api/target-schema.ts';
import { apiCommand, connectionOf, flagsOf, withSession } from '../connection.ts';
import { sinceText } from '../durations.ts';
import { eventHead, eventRow, type TargetEvent } from '../event-rows.ts';
import type { Io } from '../io.ts';
import type { CommandSetting } from '../program.ts';
import { targetNames } from '../resources.ts';
import { selectedTargets } from '../selection.ts';
import { printable, type Row, tableText } from '../tables.ts';
import { none, probeHead, probeRows, statusText } from '../target-rows.ts';
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
          io.out(`${count === 0 ? '' : '\n\n'}${describedTarget(target, events, io)}`);
          count += 1;
        }
      });
    });

function describedTarget(target: TargetView, events: readonly TargetEvent[], io: Io): string {
  const nowMs = io.clock.nowMs();
  const { conditions, containerStatuses, initContainerStatuses } = target.status;
  const style = { hasNamespace: false, isWide: true };
  return [
    tableText(fieldsOf(target), io),
    section('Conditions', [conditionHead, ...conditions.map((each) => conditionRow(each, nowMs))], io),
    section('Containers', [containerHead, ...[...initContainerStatuses, ...containerStatuses].map(containerRow)], io),
    section('Probes', [probeHead(style), ...probeRows(target, style, nowMs)], io),
    section('Events', [eventHead(false), ...events.map((each) => eventRow(each, false, nowMs))], io),
  ].join('');
}

/** A head without rows is not printed. */
function section(name: string, rows: readonly Row[], io: Io): string {
  if (rows.length === 1) return `${name}: ${none}\n`;
  const lines = tableText(rows, io).trimEnd().split('\n');
  return `${name}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function fieldsOf(target: TargetView): readonly Row[] {
  const { metadata, spec, status } = target;
  const pairs = (entries: { readonly [key: string]: string }) =>
    Object.entries(entries)
      .map(([key, value]) => `${key}=${value}`)
      .join(', ') || none;
  return [
    ['Name:', metadata.name],
    ['Namespace:', metadata.namespace],
    ['Labels:', pairs(metadata.labels)],
    ['Annotations:', pairs(metadata.annotations)],
    ['Host:', spec.host],
    ['Lifecycle:', spec.lifecycle],
    ['Created:', metadata.creationTimestamp],
    ...(metadata.deletionTimestamp === undefined ? [] : [['Terminates:', metadata.deletionTimestamp]]),
    ['Status:', statusText(target)],
    ...(status.message === undefined ? [] : [['Message:', printable(status.message)]]),
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

const containerHead: Row = ['NAME', 'READY', 'STARTED', 'RESTARTS', 'STATE', 'LAST STATE', 'ID'];

const containerRow = ({
  name,
  ready,
  started,
  restartCount,
  state,
  lastState,
  containerID,
}: ContainerStatusView): Row => [
  name,
  `${ready}`,
  started === undefined ? none : `${started}`,
  `${restartCount}`,
  stateText(state),
  stateText(lastState),
  containerID ?? none,
];

function stateText({ running, waiting, terminated }: ContainerStatusView['state']): string {
  if (running) return 'running';
  if (waiting) return `waiting (${waiting.reason ?? 'no reason'})`;
  return terminated ? `terminated (${terminated.reason ?? 'no reason'}, ${terminated.exitCode})` : none;
}
