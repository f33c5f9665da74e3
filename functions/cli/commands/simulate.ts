/** `probelet simulate`: what the thresholds of a probe do with findings, by the engine's own rules. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { specProbes } from '../../../shared/core/spec/spec.ts';
import type { ProbeType } from '../../../shared/core/spec/types.ts';
import {
  type RehearsedFinding,
  type RehearsedProbe,
  type RehearsedStep,
  rehearse,
} from '../../../shared/core/status/rehearsal.ts';
import {
  anyHost,
  convertedFiles,
  type FileOptions,
  hostOption,
  reportErrors,
  withFiles,
} from '../files/manifest-files.ts';
import { targetsOf } from '../files/wanted-targets.ts';
import type { CommandSetting, Io } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import { joined, type Printable, printedLine } from '../printing/printable.ts';
import { effectOf, runText } from '../printing/probe-text.ts';
import { type Row, tableText } from '../printing/tables.ts';
import { apiCommand } from '../server/connection.ts';
import { type ProbeNumbers, rehearsedTarget } from '../server/rehearsed-target.ts';
import { exitCodes, WrongUse } from '../words/exit-codes.ts';
import { numberOption } from '../words/option-values.ts';

const findingsMax = 1_000;

const findingByLetter: { readonly [letter: string]: RehearsedFinding } = { S: 'success', F: 'failure', E: 'error' };

type NamedProbe = { readonly name: string; readonly probe: RehearsedProbe };

type Options = FileOptions & {
  readonly host?: string;
  readonly target?: string;
  readonly probe?: ProbeType;
  readonly lifecycle?: 'static' | 'reported';
  readonly output: 'table' | 'json';
} & NumberOptions;

/** Numbers in place of the probe's own. */
type NumberOptions = {
  readonly period?: number;
  readonly initialDelay?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
};

const examples = `
S is a success, F a failure and E a probe that could not be made; 3F is short for F F F.

With --target the findings are the attempts in the event history of the target. The history has the attempts behind
each change and behind kubelet's events, not every attempt: what is missing is shown as unknown.

Examples:
  probelet simulate S F F F
  probelet simulate --probe liveness --failure-threshold 2 S 3F S
  probelet simulate -f deployment.yaml S 5F 2S
  probelet simulate --target checkout --probe readiness --failure-threshold 1`;

export const simulateCommand = (setting: CommandSetting): Command =>
  withFiles(apiCommand('simulate'), { isMandatory: false })
    .description('what the thresholds of a probe do with a row of findings, or with what a target recorded')
    .addArgument(new Argument('[findings...]', 'S, F or E for each probe').argParser(findingsFrom))
    .addOption(hostOption())
    .option('--target <name>', 'the target whose recorded attempts are the findings')
    .addOption(
      new Option(
        '--probe <type>',
        'the type of the probe (default: readiness; all that the files or the target have)',
      ).choices(['readiness', 'liveness', 'startup']),
    )
    .addOption(number('--period <seconds>', 'periodSeconds', 1, numbers.period))
    .addOption(number('--initial-delay <seconds>', 'initialDelaySeconds', 0, numbers.initialDelay))
    .addOption(number('--success-threshold <count>', 'successThreshold', 1, numbers.successThreshold))
    .addOption(number('--failure-threshold <count>', 'failureThreshold', 1, numbers.failureThreshold))
    .addOption(
      new Option('--lifecycle <lifecycle>', "of the target (default: static; the target's own)").choices([
        'static',
        'reported',
      ]),
    )
    .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'json']).default('table'))
    .addHelpText('after', examples)
    .action((findings: readonly RehearsedFinding[] | undefined, _options: Options, command: Command) =>
      simulate(setting, command, Array.isArray(findings) ? findings : []),
    );

/** Numbers where neither the command line nor a spec gives one. */
const numbers = { period: 10, initialDelay: 0, successThreshold: 1, failureThreshold: 3 } as const;

/** kubelet's limit of each of these numbers (int32). */
const numberMax = 2 ** 31 - 1;

const number = (flags: string, field: string, min: number, otherwise: number): Option =>
  numberOption(flags, `${field} of the probe (default: its own, ${otherwise})`, { min, max: numberMax });

async function simulate(
  { io, endWith }: CommandSetting,
  command: Command,
  findings: readonly RehearsedFinding[],
): Promise<void> {
  const options = command.opts<Options>();
  const { target, filename, lifecycle, output } = options;
  if (target !== undefined) {
    if (findings.length > 0 || filename) throw new WrongUse('--target goes with neither findings nor --filename');
    const ofLine = (own: ProbeNumbers) => changed(own, options);
    return rehearsedTarget(command, io, { target, type: options.probe, changed: ofLine, lifecycle, output });
  }
  if (findings.length === 0) throw new WrongUse('give findings, such as S F F F, or a target by --target');
  const probes = filename ? await probesOfFiles(options, io) : [givenProbe(options)];
  if (probes.length === 0) return endWith(exitCodes.failed);
  const rehearsed = probes.map((named) => ({ ...named, steps: rehearse(named.probe, findings) }));
  if (output === 'json') io.out(documentText(rehearsed, 'json'));
  else
    io.out(
      joined(
        rehearsed.map((each) => textOf(each, each.steps, io)),
        printedLine(''),
      ),
    );
}

/** The numbers of a probe, replaced by those of the command line. */
const changed = (
  own: ProbeNumbers,
  {
    period,
    initialDelay,
    successThreshold = own.successThreshold,
    failureThreshold = own.failureThreshold,
  }: NumberOptions,
): ProbeNumbers => ({
  initialDelaySeconds: initialDelay ?? own.initialDelaySeconds,
  periodSeconds: period ?? own.periodSeconds,
  successThreshold,
  failureThreshold,
});

/** Commander hands over one argument after another. */
function findingsFrom(text: string, before: readonly RehearsedFinding[] = []): readonly RehearsedFinding[] {
  const parts = /^(?:\d{0,4}[SFE])+$/i.test(text) ? (text.toUpperCase().match(/\d{0,4}[SFE]/g) ?? []) : [];
  const found = parts.flatMap((part) => {
    const finding = findingByLetter[part.slice(-1)];
    const count = part.length === 1 ? 1 : Number(part.slice(0, -1));
    return finding ? new Array<RehearsedFinding>(Math.min(count, findingsMax + 1)).fill(finding) : [];
  });
  if (found.length === 0) throw new InvalidArgumentError('must be S, F or E, such as S F F F or S3F');
  const all = [...before, ...found];
  if (all.length > findingsMax) throw new InvalidArgumentError(`has more than ${findingsMax} findings`);
  return all;
}

function givenProbe(options: Options): NamedProbe {
  const { probe: probeType = 'readiness', lifecycle = 'static' } = options;
  const { period, initialDelay, ...thresholds } = numbers;
  const own = { periodSeconds: period, initialDelaySeconds: initialDelay, ...thresholds };
  const isStatic = lifecycle === 'static';
  return { name: `${probeType} probe`, probe: { ...changed(own, options), probeType, isStatic } };
}

async function probesOfFiles(options: Options, io: Io): Promise<readonly NamedProbe[]> {
  const { host = anyHost, lifecycle, probe: type } = options;
  const conversions = await convertedFiles(options, { io, format: { host } });
  reportErrors(conversions, io.err);
  if (conversions.some(({ kind }) => kind === 'invalid')) return [];
  const probes = targetsOf(conversions).flatMap(({ namespace, name, spec }) =>
    specProbes(spec).map(({ container, probeType, probe }) => {
      const isStatic = (lifecycle ?? spec.lifecycle) === 'static';
      return {
        name: `${probeType} probe of ${namespace}/${name}, container ${container.spec.name}`,
        probe: { ...changed(probe, options), probeType, isStatic },
      };
    }),
  );
  const wanted = probes.filter(({ probe }) => type === undefined || probe.probeType === type);
  if (wanted.length === 0) io.err(`No file has a ${type === undefined ? '' : `${type} `}probe.`);
  return wanted;
}

const stepHead: Row = ['PROBE', 'TIME', 'FINDING', 'RUN', 'RESULT', 'EFFECT'];

function textOf({ name, probe }: NamedProbe, steps: readonly RehearsedStep[], io: Io): Printable {
  const { initialDelaySeconds: delay, periodSeconds: period } = probe;
  const first = `first made between ${delay} s and ${delay + period} s after the start of its container`;
  const rows = steps.map((step, place) => [
    String(place + 1),
    `+${step.afterMs / 1_000}s`,
    step.onHold ? 'not made' : step.finding,
    runText(step),
    step.result ?? 'unknown',
    effectOf(probe, step),
  ]);
  return joined([printedLine(`${name}: every ${period} s, ${first}`), tableText([stepHead, ...rows], io)]);
}
