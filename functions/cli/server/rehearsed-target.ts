/** What thresholds do with the attempts in the event history of a target, as far as it has them. */
import type { Command } from 'commander';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ProbeType } from '../../../shared/core/spec/types.ts';
import { type RehearsedProbe, type RehearsedStep, rehearse } from '../../../shared/core/status/rehearsal.ts';
import type { Io } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import { joined, type Printable, printedLine, printedLines } from '../printing/printable.ts';
import { effectOf, runText } from '../printing/probe-text.ts';
import { type Row, tableText } from '../printing/tables.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { noTarget } from '../words/resources.ts';
import { connectionOf, flagsOf, withSession } from './connection.ts';
import { findingRows, type RecordedFinding } from './recorded-findings.ts';

/** The numbers of a probe. */
export type ProbeNumbers = {
  readonly initialDelaySeconds: number;
  readonly periodSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
};

export type TargetRehearsal = {
  readonly target: string;
  /** Absent: all. */
  readonly type?: ProbeType | undefined;
  /** What the command line says in place of the probe's own. */
  readonly changed: (own: ProbeNumbers) => ProbeNumbers;
  readonly lifecycle?: 'static' | 'reported' | undefined;
  readonly output: 'table' | 'json';
};

/** As many as the API has in an answer. */
const eventsMax = 500;

/** @throws CliError if there is nothing to simulate */
export async function rehearsedTarget(command: Command, io: Io, rehearsal: TargetRehearsal): Promise<void> {
  const name = rehearsal.target.replace('target/', '');
  await withSession(connectionOf(flagsOf(command), io.env), { io }, async ({ client, namespace }) => {
    const target = await client.target({ namespace, name });
    const events = target && (await client.events({ namespace, name }, eventsMax));
    if (!target || !events) throw noTarget(name, namespace);
    const probes = wantedProbes(target, rehearsal);
    if (probes.length === 0) throw noProbe(target, rehearsal);
    const rehearsed = probes.map(
      (each): RehearsedProbeRows => ({ ...each, rows: rowsOf(each, findingRows(events, each)) }),
    );
    if (rehearsed.every(({ rows }) => rows.length === 0))
      throw new CliError(`nothing is recorded of target/${name}: 'probelet probe target/${name}' makes an attempt`);
    if (rehearsal.output === 'json') io.out(documentText(rehearsed, 'json'));
    else io.out(joined([...rehearsed.map((each) => textOf(each, io)), printedLines(note)], printedLine('')));
  });
}

const note = [
  "Recorded are the attempts behind each change of a result and behind kubelet's events. Of others it is not known",
  'what they found, nor whether they were made; after them the result is unknown until enough known findings in a row.',
];

function noProbe({ metadata, status }: TargetView, { type }: TargetRehearsal): CliError {
  const has = status.probes.map(({ container, probeType }) => `${probeType} of ${container}`).join(', ');
  const which = type === undefined ? 'probe' : `${type} probe`;
  return new CliError(
    `target/${metadata.name} has no ${which}: it has ${has === '' ? 'none' : has}`,
    exitCodes.notFound,
  );
}

type WantedProbe = {
  readonly name: string;
  readonly container: string;
  readonly probeType: ProbeType;
  /** The period of the spec, which says when the attempts were made. */
  readonly periodSeconds: number;
  readonly own: ProbeNumbers;
  readonly probe: RehearsedProbe;
};

function wantedProbes({ metadata, spec, status }: TargetView, rehearsal: TargetRehearsal): readonly WantedProbe[] {
  const { type, changed, lifecycle = spec.lifecycle } = rehearsal;
  const containers = [...spec.initContainers, ...spec.containers];
  return status.probes.flatMap(({ container, probeType }): readonly WantedProbe[] => {
    const own = containers.find((each) => each.name === container)?.[`${probeType}Probe`];
    if (!own || (type !== undefined && type !== probeType)) return [];
    const name = `${probeType} probe of ${metadata.namespace}/${metadata.name}, container ${container}`;
    const probe = { ...changed(own), probeType, isStatic: lifecycle === 'static' };
    return [{ name, container, probeType, periodSeconds: own.periodSeconds, own, probe }];
  });
}

type RecordedStep = Omit<RehearsedStep, 'afterMs'> & {
  readonly time: string;
  readonly published?: string;
  /** The run may be longer, because what was before is not known. */
  readonly isLonger?: true;
  /** The first result of a row: it may have been the same before. */
  readonly isFirst?: true;
};

/** `missing`: about how many findings before it are not known. */
type RehearsedRow = { readonly missing?: number; readonly steps: readonly RecordedStep[] };

type RehearsedProbeRows = WantedProbe & { readonly rows: readonly RehearsedRow[] };

/** Each row begins without a result, because what was before it is not known. */
const rowsOf = ({ probe }: WantedProbe, rows: ReturnType<typeof findingRows>): readonly RehearsedRow[] =>
  rows.map(({ findings, missing }) => ({
    ...(missing !== undefined && { missing }),
    steps: stepsOf(probe, findings),
  }));

function stepsOf(probe: RehearsedProbe, findings: readonly RecordedFinding[]): readonly RecordedStep[] {
  const steps = rehearse(
    probe,
    findings.map(({ finding }) => finding),
  );
  const second = steps.findIndex(({ run }, place) => place > 0 && run === 1);
  const first = steps.findIndex(({ isNew }) => isNew);
  return steps.map(({ afterMs: _, ...step }, place): RecordedStep => {
    const { atMs = 0, published } = findings[place] ?? {};
    const isLonger = (second < 0 || place < second) && step.threshold !== undefined && step.run < step.threshold;
    return {
      ...step,
      time: new Date(atMs).toISOString(),
      ...(published !== undefined && { published }),
      ...(isLonger && { isLonger }),
      ...(place === first && { isFirst: true }),
    };
  });
}

const head: Row = ['PROBE', 'TIME', 'FINDING', 'RUN', 'RESULT', 'EFFECT', 'PUBLISHED'];

function textOf({ name, own, probe, rows }: RehearsedProbeRows, io: Io): Printable {
  let count = 0;
  const table = rows.flatMap(({ missing, steps }): readonly Row[] => [
    ...(missing === undefined ? [] : [['', missingText(missing), '', '', 'unknown', '', '']]),
    ...steps.map((step) => {
      count += 1;
      return stepRow(count, step, probe);
    }),
  ]);
  return joined([printedLine(`${name}: ${thresholdsText(own, probe)}`), tableText([head, ...table], io)]);
}

const missingText = (missing: number): string => (missing === 0 ? 'another container' : `about ${missing} unknown`);

const thresholdsText = (own: ProbeNumbers, probe: ProbeNumbers): string =>
  (['failureThreshold', 'successThreshold'] as const)
    .map((field) => `${field} ${probe[field]}${probe[field] === own[field] ? '' : ` instead of ${own[field]}`}`)
    .join(', ');

const stepRow = (count: number, step: RecordedStep, probe: RehearsedProbe): Row => [
  `${count}`,
  step.time,
  step.onHold ? 'not made' : step.finding,
  `${step.isLonger ? '≥' : ''}${runText(step)}`,
  step.result ?? 'unknown',
  step.isFirst ? 'known from here on' : effectOf(probe, step),
  step.published ?? '',
];
