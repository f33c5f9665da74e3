/** `probelet cost`: what a fleet costs a month on AWS, from round numbers or from the probes of files. */
import { Command, Option } from 'commander';
import { type ProbeCost, probeCpuMs } from '../../../shared/core/spec/handler-fields.ts';
import { costOf } from '../../../shared/core/spec/handlers.ts';
import { specProbes, type TargetSpec } from '../../../shared/core/spec/spec.ts';
import { cheapestCompute, memoryFor } from '../../../shared/cost/compute.ts';
import { type CostEstimate, deployedAlarms, estimateCost, taskAlarms } from '../../../shared/cost/estimate.ts';
import {
  type Compute,
  type ComputeChoice,
  type Fleet,
  type FleetMode,
  type FleetPart,
  heldText,
  type Reach,
  reaches,
  tooHeavyText,
} from '../../../shared/cost/fleet.ts';
import { pricesReadIn, pricesRegion } from '../../../shared/cost/prices.ts';
import { metricCount } from '../../lambda/metrics.ts';
import { anyHost, convertedFiles, type FileOptions, reportErrors, withFiles } from '../files/manifest-files.ts';
import { targetsOf } from '../files/wanted-targets.ts';
import type { CommandSetting, Io } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import { joined, type Printable, printedLine } from '../printing/printable.ts';
import { tableText } from '../printing/tables.ts';
import { exitCodes, WrongUse } from '../words/exit-codes.ts';
import { numberOption } from '../words/option-values.ts';

const targetsMax = 10_000_000;
const secondsMax = 86_400;
const probesMax = 1_000;
/** Lambda's limits. */
const [memoryMin, memoryMax] = [128, 10_240];
const memoryHelp = 'of the prober function (default: what holds the fleet at the least cost)';
const computeHelp = 'the prober function, tasks of Fargate Spot, or what is cheaper';
const reachHelp = 'the way to the targets, by what AWS bills for it';
const resumptionHelp = 'HTTPS probes resume sessions, as with the prop tlsSessionResumption';

type Options = FileOptions & {
  readonly targets: number;
  readonly probes: number;
  readonly probe: ProbeCost;
  readonly period: number;
  readonly memory?: number;
  readonly mode: FleetMode;
  readonly compute: Compute | 'auto';
  readonly reach: Reach;
  readonly tlsSessionResumption?: boolean;
  readonly output: 'table' | 'json';
};

const examples = `
Examples:
  probelet cost --targets 1000 --probe https --period 10
  probelet cost --targets 10000 --probe https --compute auto
  probelet cost --targets 1000 --probe https --reach vpc
  probelet cost -f deployment.yaml --targets 50
  probelet cost -f targets.yaml -o json

With -f, --targets is how many there are of each target of the files (1).`;

export const costCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(new Command('cost'), { isMandatory: false })
    .description('what a fleet costs a month on AWS')
    .addOption(numberOption('--targets <count>', 'how many', { min: 1, max: targetsMax }))
    .addOption(numberOption('--probes <count>', 'of each target', { min: 1, max: probesMax }).default(1))
    .addOption(new Option('--probe <kind>', 'what they are').choices(Object.keys(probeCpuMs)).default('http'))
    .addOption(numberOption('--period <seconds>', 'periodSeconds', { min: 1, max: secondsMax }).default(10))
    .addOption(numberOption('--memory <MB>', memoryHelp, { min: memoryMin, max: memoryMax }))
    .addOption(new Option('--mode <mode>', 'of the prober').choices(['auto', 'resident', 'tick']).default('auto'))
    .addOption(new Option('--compute <kind>', computeHelp).choices(['lambda', 'fargate', 'auto']).default('lambda'))
    .addOption(new Option('--reach <way>', reachHelp).choices(reaches).default('internet'))
    .option('--tls-session-resumption', resumptionHelp)
    .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'json']).default('table'))
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      const { filename, mode, output, reach, tlsSessionResumption } = options;
      const parts = filename ? await fleetOfFiles(options, io) : givenFleet(options);
      const fleet = parts.map((part) => ({ ...part, reach }));
      if (fleet.length === 0) return endWith(exitCodes.failed);
      const choice = chosenCompute(fleet, options);
      const { compute, memorySize } = choice;
      const alarms = deployedAlarms + (compute === 'fargate' ? taskAlarms : 0);
      const watched = { alarms, metrics: metricCount(false), dashboard: false };
      const estimate = estimateCost({ fleet, mode, ...choice, ...watched, tlsSessionResumption });
      const { layout, lines, usd, transferUsd, steadyUnits } = estimate;
      const priced = { prices: pricesRegion, readIn: pricesReadIn };
      if (output === 'json')
        io.out(documentText({ usd, transferUsd, lines, steadyUnits, compute, memorySize, layout, ...priced }, 'json'));
      else io.out(textOf(estimate, choice, io));
      if (layout.load <= 1) return;
      const remedy = compute === 'fargate' ? '' : `: try --memory ${Math.ceil(memorySize * layout.load)}`;
      io.err(`error: ${tooHeavyText(layout, choice)}${remedy}`);
      endWith(exitCodes.failed);
    });

/** @throws WrongUse for memory that nothing would have */
function chosenCompute(fleet: Fleet, { compute: wanted, memory, mode }: Options): ComputeChoice {
  if (wanted !== 'lambda' && memory !== undefined) throw new WrongUse('--memory: only with --compute lambda');
  const compute = wanted === 'auto' ? cheapestCompute(fleet, mode) : wanted;
  return { compute, memorySize: memory ?? memoryFor(compute, fleet, mode) };
}

const givenFleet = ({ targets = 100, probes, probe, period }: Options): Fleet => [
  { targets, periodSeconds: period, probe, probesPerTarget: probes },
];

async function fleetOfFiles({ targets = 1, ...files }: Options, io: Io): Promise<Fleet> {
  const conversions = await convertedFiles(files, { io, format: { host: anyHost } });
  reportErrors(conversions, io.err);
  if (conversions.some(({ kind }) => kind === 'invalid')) return [];
  const specs = targetsOf(conversions).map(({ spec }) => spec);
  if (specs.length === 0) io.err('No file has a target.');
  return specs.flatMap(partsOf).map((part) => ({ ...part, targets: part.targets * targets }));
}

/** A part for each probe. Together they are one target. */
const partsOf = (spec: TargetSpec): readonly FleetPart[] =>
  specProbes(spec).map(({ probe }, _, probes) => ({
    targets: 1 / probes.length,
    probesPerTarget: probes.length,
    periodSeconds: probe.periodSeconds,
    probe: costOf(probe),
  }));

function textOf({ layout, lines, usd }: CostEstimate, choice: ComputeChoice, io: Io): Printable {
  const { shards } = layout;
  const rows = [...lines, { what: 'all', usd }].map((line) => [line.what, line.usd.toFixed(2)]);
  const count = `${shards.length} ${shards.length === 1 ? 'shard' : 'shards'}`;
  const notes =
    `${shards[0]?.mode ?? 'idle'}, ${count} ${heldText(layout, choice)}. Prices of ${pricesRegion}, read in ${pricesReadIn}, ` +
    'without free tiers, API calls and keys.';
  return joined([tableText([['WHAT', 'USD A MONTH'], ...rows], io), printedLine(notes)]);
}
