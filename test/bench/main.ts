/**
 * `npm run bench`: the product beside its peers, in turn on one core, in a network of their own. The peers are
 * kubelet's own probers and, if it is installed, prometheus-blackbox-exporter. A ratio is ours by theirs: below 1 is
 * less. `--rounds N`, `--only KIND,…` of http, tcp, grpc, https, paced, scale, restart; `--json` prints one object;
 * `--compare` prints what moved since the stored figures, and `--store` stores these beside those of other kinds;
 * `--short`: the saturated rounds only, judged against the stored ratios by the least of each side, since what else the
 * machine does only adds to a figure. Where the machine's host took CPU time meanwhile, the figures are worth less:
 * `machine.stolenPercent`. Needs Go, a C compiler, unshare and taskset.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { scoreLine } from '../support/figures.ts';
import { type Paced, pacedBlackbox, pacedKubelet, pacedProduct } from './paced.ts';
import { measureRestart } from './restart/measure.ts';
import { type Pair, type Resumed, type SaturatedKind, saturatedKinds, saturatedRound } from './saturated.ts';
import { watchStolen } from './stolen.ts';
import { enterNetwork, isInNetwork, startWorld, type World } from './world.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    store: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
  },
});

const stored = join(import.meta.dirname, 'stored.json');
const pacedTargets = 1_000;
const scaleTargets = 5_000;
/** A status for each target takes longer on a core that the probes alone need for the most part. */
const scaleSettleMs = 30_000;
const restartTargets = 10_000;
/** Another machine, or one that does something else beside, is not slower by more. */
const shortFactor = 1.6;

const rest = ['paced', 'scale', 'restart'] as const;
type Kind = SaturatedKind | (typeof rest)[number];
const kinds: readonly Kind[] = [...saturatedKinds, ...rest];

/** Of all rounds: the median, the least and the greatest. */
type Spread = readonly [middle: number, least: number, greatest: number];

/** Figures by name: `ratios.httpVsKubelet`, `paced.rssMb` and so on. */
type Figures = Map<string, Spread>;

const say = (line: string): void => {
  if (!values.json) console.log(line);
};

function choose(): readonly Kind[] {
  if (values.only === undefined) return values.short ? saturatedKinds : kinds;
  const asked = values.only.split(',');
  const wrong = asked.find((kind) => !kinds.some((known) => known === kind));
  if (wrong !== undefined) throw new Error(`--only ${wrong}: must be of ${kinds.join(', ')}`);
  return kinds.filter((kind) => asked.includes(kind));
}

const chosen = choose();

async function bench(): Promise<Figures> {
  const figures: Figures = new Map();
  const world = await startWorld();
  const stolen = watchStolen();
  try {
    for (const kind of chosen) await measureKind(world, kind, figures);
  } finally {
    world.close();
  }
  put(figures, 'machine.stolenPercent', [stolen()]);
  return figures;
}

async function measureKind(world: World, kind: Kind, figures: Figures): Promise<void> {
  switch (kind) {
    case 'paced':
      return measurePaced(world, figures);
    case 'scale': {
      const scaled = await pacedProduct(world, scaleTargets, scaleSettleMs);
      put(figures, `scale.achieved${scaleTargets}`, [scaled.achieved]);
      put(figures, 'scale.latenessP99Ms', [scaled.latenessP99Ms]);
      return put(figures, 'scale.rssMb', [scaled.rssMb]);
    }
    case 'restart': {
      const { probedMs, errors } = await measureRestart(restartTargets);
      put(figures, `restart.allProbedMs${restartTargets}`, [probedMs]);
      return put(figures, 'restart.proberErrors', [errors]);
    }
    default:
      return measureSaturated(world, kind, figures);
  }
}

function measureSaturated(world: World, kind: SaturatedKind, figures: Figures): void {
  const pairs: Pair[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const pair = saturatedRound(world, kind, round % 2 === 1);
    say(`${kind}: ${pair.ours.toFixed(1)} µs of CPU per probe, kubelet ${pair.theirs.toFixed(1)} µs${pair.path}`);
    if (pair.resumed) say(resumedLine(pair.resumed));
    pairs.push(pair);
  }
  put(
    figures,
    `ratios.${kind}VsKubelet`,
    pairs.map(({ ours, theirs }) => ours / theirs),
  );
  put(
    figures,
    `saturated.${kind}CpuMicros`,
    pairs.map(({ ours }) => ours),
  );
  put(figures, `${leastOf}${kind}VsKubelet`, [leastRatio(pairs)]);
  putResumed(figures, pairs);
}

const leastOf = 'least.';

type Sides = { readonly ours: number; readonly theirs: number };

/** Of the round in which each side took the least. */
const leastRatio = (rounds: readonly Sides[]): number =>
  Math.min(...rounds.map(({ ours }) => ours)) / Math.min(...rounds.map(({ theirs }) => theirs));

const resumedLine = ({ cpuMicros, share }: Resumed): string =>
  `https: ${cpuMicros.toFixed(1)} µs with TLS sessions; ${(share * 100).toFixed(1)} % of the handshakes resumed one`;

/** The same probes with the option `--tls-session-resumption`, to the same of kubelet, which resumes none. */
function putResumed(figures: Figures, pairs: readonly Pair[]): void {
  const rounds = pairs.flatMap(({ theirs, resumed }) => (resumed ? [{ ...resumed, theirs }] : []));
  if (rounds.length === 0) return;
  put(
    figures,
    'ratios.httpsResumedVsKubelet',
    rounds.map(({ cpuMicros, theirs }) => cpuMicros / theirs),
  );
  put(figures, `${leastOf}httpsResumedVsKubelet`, [
    leastRatio(rounds.map(({ cpuMicros, theirs }) => ({ ours: cpuMicros, theirs }))),
  ]);
  put(
    figures,
    'saturated.httpsResumedCpuMicros',
    rounds.map(({ cpuMicros }) => cpuMicros),
  );
  put(
    figures,
    'saturated.httpsResumedShare',
    rounds.map(({ share }) => share),
  );
}

async function measurePaced(world: World, figures: Figures): Promise<void> {
  const blackbox = blackboxProgram();
  const rounds: { readonly ours: Paced; readonly kubelet: Paced; readonly blackbox?: Paced }[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const kubelet = await pacedKubelet(world, pacedTargets);
    sayPaced('kubelet', kubelet);
    const ours = await pacedProduct(world, pacedTargets);
    sayPaced('probelet', ours);
    const exporter = blackbox && (await pacedBlackbox(world, pacedTargets, blackbox));
    if (exporter) sayPaced('blackbox_exporter', exporter);
    rounds.push({ ours, kubelet, ...(exporter && { blackbox: exporter }) });
  }
  const ratio = (to: 'kubelet' | 'blackbox') =>
    rounds.flatMap((one) => (one[to] === undefined ? [] : [one.ours.cpuMicros / one[to].cpuMicros]));
  put(figures, 'ratios.pacedVsKubelet', ratio('kubelet'));
  if (blackbox) put(figures, 'ratios.pacedVsBlackbox', ratio('blackbox'));
  put(
    figures,
    'paced.cpuMicrosPerProbe',
    rounds.map(({ ours }) => ours.cpuMicros),
  );
  put(
    figures,
    'paced.latenessP99Ms',
    rounds.map(({ ours }) => ours.latenessP99Ms),
  );
  put(
    figures,
    'paced.rssMb',
    rounds.map(({ ours }) => ours.rssMb),
  );
}

const sayPaced = (who: string, { cpuMicros, latenessP99Ms, rssMb, achieved }: Paced): void =>
  say(
    `paced: ${who} ${cpuMicros.toFixed(1)} µs of CPU per probe, ${latenessP99Ms.toFixed(1)} ms late (p99), ${rssMb.toFixed(0)} MB, ${achieved.toFixed(0)} a second`,
  );

function blackboxProgram(): string | undefined {
  const name = 'prometheus-blackbox-exporter';
  if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) return name;
  say(`${name} is not installed: its ratio is left out`);
  return undefined;
}

function put(figures: Figures, name: string, measured: readonly number[]): void {
  const sorted = measured.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  figures.set(name, [(at(Math.floor(half)) + at(Math.ceil(half))) / 2, at(0), at(sorted.length - 1)]);
}

/** `{"ratios": {"httpVsKubelet": 1.1}, …, "spreads": {"ratios.httpVsKubelet": [1.0, 1.2]}}` */
function asObject(figures: Figures): object {
  const groups: { [group: string]: { [name: string]: number } } = {};
  for (const [name, [middle]] of figures) {
    const [group = '', key = ''] = name.split('.');
    groups[group] = { ...groups[group], [key]: rounded(middle) };
  }
  const spreads = [...figures].map(
    ([name, [, least, greatest]]) => [name, [rounded(least), rounded(greatest)]] as const,
  );
  return { ...groups, spreads: Object.fromEntries(spreads) };
}

const rounded = (value: number): number => Number(value.toPrecision(4));

type Stored = { readonly [group: string]: { readonly [name: string]: number } };

const storedFigures = (): Stored => JSON.parse(readFileSync(stored, 'utf8')) as Stored;

function storedFigure(figures: Stored, name: string): number | undefined {
  const [group = '', key = ''] = name.split('.');
  return figures[group]?.[key];
}

function report(figures: Figures): void {
  const before = values.compare ? storedFigures() : {};
  for (const [name, [middle, least, greatest]] of figures) {
    const known = storedFigure(before, name);
    const moved = known === undefined ? '' : `, stored ${known} (${signed((middle / known - 1) * 100)} %)`;
    say(`${name} ${rounded(middle)} (${rounded(least)} to ${rounded(greatest)})${moved}`);
  }
}

const signed = (percent: number): string => `${percent > 0 ? '+' : ''}${percent.toFixed(0)}`;

/** Whether each least ratio is near the stored one, if there is one. Prints a line for each, and the score. */
function judge(figures: Figures): boolean {
  const { ratios: before } = storedFigures();
  const score = { passed: 0, failed: 0 };
  for (const [name, [least]] of figures) {
    if (!name.startsWith(leastOf)) continue;
    const stored = before?.[name.slice(leastOf.length)];
    if (stored === undefined) {
      say(`       ${name} ${rounded(least)}, none is stored`);
      continue;
    }
    const isHeld = least <= stored * shortFactor;
    say(`${isHeld ? 'ok    ' : 'NO    '} ${name} ${rounded(least)} ≤ ${rounded(stored * shortFactor)}`);
    score[isHeld ? 'passed' : 'failed'] += 1;
  }
  say(scoreLine(score));
  return score.failed === 0;
}

/** What was not measured stays. The least ratios are for `--short` alone. */
function store(figures: Figures): void {
  const before = storedFigures();
  const kept = new Map([...figures].filter(([name]) => !name.startsWith(leastOf)));
  const groups = Object.entries(asObject(kept)).map(([group, own]) => [group, { ...before[group], ...own }] as const);
  writeFileSync(stored, `${JSON.stringify({ ...before, ...Object.fromEntries(groups) }, undefined, 2)}\n`);
}

async function main(): Promise<number> {
  const figures = await bench();
  report(figures);
  if (values.json) console.log(JSON.stringify(asObject(figures)));
  if (values.store) store(figures);
  return values.short && !judge(figures) ? 1 : 0;
}

process.exitCode = isInNetwork() ? await main() : enterNetwork();
