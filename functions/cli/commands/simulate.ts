/** `probelet simulate`: what the thresholds of a probe do with a row of findings, by the engine's own rules. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import {
  type RehearsedFinding,
  type RehearsedProbe,
  type RehearsedStep,
  rehearse,
} from '../../../shared/core/rehearsal.ts';
import { specProbes } from '../../../shared/core/spec.ts';
import type { ProbeType } from '../../../shared/core/types.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { convertedFiles, type FileOptions, hostOption, reportErrors, withFiles } from '../manifest-files.ts';
import { numberOption } from '../number-option.ts';
import type { CommandSetting } from '../program.ts';
import { tableText } from '../tables.ts';

const findingsMax = 1_000;

const findingByLetter: { readonly [letter: string]: RehearsedFinding } = { S: 'success', F: 'failure', E: 'error' };

type Named = { readonly name: string; readonly probe: RehearsedProbe };

type Options = FileOptions & {
  readonly host?: string;
  readonly type: ProbeType;
  readonly period: number;
  readonly initialDelay: number;
  readonly success: number;
  readonly failure: number;
  readonly lifecycle: 'static' | 'reported';
  readonly output: 'table' | 'json';
};

const examples = `
S is a success, F a failure and E a probe that could not be made; 3F is short for F F F.

Examples:
  probelet simulate S F F F
  probelet simulate --type liveness --failure-threshold 2 S 3F S
  probelet simulate -f deployment.yaml S 5F 2S`;

/** No verdict depends on the address (RFC 2606). */
const anyHost = 'host.invalid';

export const simulateCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(new Command('simulate'), { isMandatory: false })
    .description('what the thresholds of a probe do with a row of findings')
    .addArgument(new Argument('<findings...>', 'S, F or E for each probe').argParser(findingsFrom))
    .addOption(hostOption())
    .addOption(
      new Option('--type <type>', 'of the probe').choices(['readiness', 'liveness', 'startup']).default('readiness'),
    )
    .addOption(number('--period <seconds>', 'periodSeconds', 1).default(10))
    .addOption(number('--initial-delay <seconds>', 'initialDelaySeconds', 0).default(0))
    .addOption(number('--success-threshold <count>', 'successThreshold', 1).default(1))
    .addOption(number('--failure-threshold <count>', 'failureThreshold', 1).default(3))
    .addOption(new Option('--lifecycle <lifecycle>', 'of the target').choices(['static', 'reported']).default('static'))
    .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'json']).default('table'))
    .addHelpText('after', examples)
    .action(async (findings: readonly RehearsedFinding[], options: Options & Thresholds) => {
      const probes = options.filename ? await probesOfFiles(options, io) : [givenProbe(options)];
      if (probes.length === 0) return endWith(exitCodes.failed);
      const rehearsed = probes.map((named) => ({ ...named, steps: rehearse(named.probe, findings) }));
      if (options.output === 'json') io.out(`${JSON.stringify(rehearsed, null, 2)}\n`);
      else io.out(rehearsed.map((each) => textOf(each, io)).join('\n'));
    });

type Thresholds = { readonly successThreshold: number; readonly failureThreshold: number };

/** kubelet's limit of each of these numbers (int32). */
const numberMax = 2 ** 31 - 1;

const number = (flags: string, field: string, min: number): Option =>
  numberOption(flags, `${field} of the probe`, { min, max: numberMax });

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

function givenProbe(options: Options & Thresholds): Named {
  const { type, period, initialDelay, successThreshold, failureThreshold, lifecycle } = options;
  return {
    name: `${type} probe`,
    probe: {
      probeType: type,
      periodSeconds: period,
      initialDelaySeconds: initialDelay,
      ...{ successThreshold, failureThreshold },
      isStatic: lifecycle === 'static',
    },
  };
}

async function probesOfFiles({ host = anyHost, ...files }: Options, io: Io): Promise<readonly Named[]> {
  const conversions = await convertedFiles(files, { io, format: { host } });
  reportErrors(conversions, io.err);
  if (conversions.some(({ kind }) => kind === 'invalid')) return [];
  const targets = conversions.flatMap((each) => (each.kind === 'converted' ? each.targets : []));
  const probes = targets.flatMap(({ namespace, name, spec }) =>
    specProbes(spec).map(({ container, probeType, probe }) => ({
      name: `${probeType} probe of ${namespace}/${name}, container ${container.spec.name}`,
      probe: { ...probe, probeType, isStatic: spec.lifecycle === 'static' },
    })),
  );
  if (probes.length === 0) io.err('No file has a probe.');
  return probes;
}

type Rehearsed = Named & { readonly steps: readonly RehearsedStep[] };

function textOf({ name, probe, steps }: Rehearsed, io: Io): string {
  const { initialDelaySeconds: delay, periodSeconds: period } = probe;
  const first = `first made between ${delay} s and ${delay + period} s after the start of its container`;
  const rows = steps.map((step, place) => [
    String(place + 1),
    `+${step.afterMs / 1_000}s`,
    step.onHold ? 'not made' : step.finding,
    step.threshold === undefined ? '-' : `${Math.min(step.run, step.threshold)}/${step.threshold}`,
    step.result ?? 'unknown',
    effectOf(probe, step),
  ]);
  return `${name}: every ${period} s, ${first}\n${tableText([['PROBE', 'TIME', 'FINDING', 'RUN', 'RESULT', 'EFFECT'], ...rows], io)}`;
}

const effects: { readonly [type in ProbeType]: { readonly [result in 'success' | 'failure']: string } } = {
  readiness: { success: 'the container is ready', failure: 'the container is not ready' },
  liveness: { success: 'the container is alive', failure: 'a restart is requested' },
  startup: { success: 'readiness and liveness probes begin', failure: 'a restart is requested' },
};

function effectOf({ probeType }: RehearsedProbe, { isNew, result, finding, onHold }: RehearsedStep): string {
  if (onHold) return 'waits for the next container';
  if (finding === 'error') return 'changes nothing; the second in a row is shown as unknown';
  return isNew && (result === 'success' || result === 'failure') ? effects[probeType][result] : '';
}
