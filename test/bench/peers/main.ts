/**
 * `npm run bench:peers`: CPU of one probe beside kubelet's own probers, in turn on one core, in a network of their own.
 * The targets are on the other core. `--rounds N`, `--only KIND,…`, `--json`. Needs Go, a C compiler, unshare and
 * taskset. The ratio is ours by kubelet's: below 1 is less.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const inNetwork = 'PROBELET_BENCH_NETWORK';
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'http,tcp,grpc,https,paced' },
    json: { type: 'boolean', default: false },
  },
});

/** Probes of a saturated round, with so many in flight. */
const probes = { http: 20_000, tcp: 20_000, grpc: 10_000, https: 5_000 };
const inFlight = 64;
const pacedTargets = 1_000;
const pacedSeconds = 10;
/** As `npm start` has them. */
const nodeFlags = ['--max-semi-space-size=2', '--no-maglev'];

type Figures = {
  readonly probes: number;
  readonly failed: number;
  readonly cpuMicros: number;
  readonly rssMb: number;
  readonly latenessP99Ms?: number;
};
type Round = { readonly ours: Figures; readonly kubelet: Figures };

/** Runs this program again where there is only loopback, so that nothing leaves the machine and no port is taken. */
function enterNetwork(): number {
  const up = 'ip link set lo up && exec "$@"';
  const self = [process.execPath, ...process.argv.slice(1)];
  const { status, error } = spawnSync('unshare', ['--map-root-user', '--net', 'sh', '-c', up, 'sh', ...self], {
    stdio: 'inherit',
    env: { ...process.env, [inNetwork]: '1' },
  });
  if (error) console.error(`no network of its own: ${error.message}`);
  return status ?? 1;
}

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-peers-'));
  const children: ChildProcess[] = [];
  try {
    const programs = build(folder);
    const [http, tcp] = (await firstLine(children, programs.target, [])).split(' ').map(Number);
    const served: unknown = JSON.parse(await firstLine(children, programs.peers, ['serve']));
    const ports = { http, tcp, ...(served as { readonly grpc: number; readonly https: number }) };
    const rounds = new Map<string, Round[]>();
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const kind of values.only.split(',')) {
        const args = argsOf(kind, ports);
        const ours = () => measured(process.execPath, [...nodeFlags, join(here, 'prober.ts'), ...args]);
        const kubelet = () => measured(programs.peers, args);
        // Each is the first in every other round.
        const done = round % 2 === 0 ? { ours: ours(), kubelet: kubelet() } : { kubelet: kubelet(), ours: ours() };
        rounds.set(kind, [...(rounds.get(kind) ?? []), done]);
        if (!values.json) console.log(lineOf(kind, done));
      }
    }
    report(rounds);
  } finally {
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function build(folder: string) {
  const programs = { target: join(folder, 'target'), peers: join(folder, 'peers') };
  run('cc', ['-O2', '-o', programs.target, join(here, '../target.c')]);
  run('go', ['build', '-mod=readonly', '-o', programs.peers, '.'], {
    cwd: here,
    env: { ...process.env, GOWORK: 'off' },
  });
  return programs;
}

function run(command: string, args: readonly string[], options: object = {}): string {
  const { status, error, stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  if (error || status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? `exit code ${status}`}`);
  return stdout;
}

/** Starts what is probed, on the second core. */
async function firstLine(children: ChildProcess[], program: string, args: readonly string[]): Promise<string> {
  const child = spawn('taskset', ['-c', '1', program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(createInterface(child.stdout), 'line');
  return String(line);
}

function argsOf(kind: string, ports: { readonly [kind: string]: number | undefined }): readonly string[] {
  if (kind === 'paced') return ['paced', `${ports.http}`, `${pacedTargets}`, `${pacedSeconds}`];
  const count = probes[kind as keyof typeof probes];
  if (count === undefined) throw new Error(`--only ${kind}: must be of ${Object.keys(probes).join(', ')}, paced`);
  return ['saturated', kind, `${ports[kind]}`, `${count}`, `${inFlight}`];
}

function measured(program: string, args: readonly string[]): Figures {
  const figures: Figures = JSON.parse(run('taskset', ['-c', '0', program, ...args]));
  if (figures.failed > 0) throw new Error(`${figures.failed} of ${figures.probes} probes failed: ${args.join(' ')}`);
  return figures;
}

const ratioOf = ({ ours, kubelet }: Round): number => ours.cpuMicros / kubelet.cpuMicros;

const lineOf = (kind: string, { ours, kubelet }: Round): string =>
  `${kind}: ${ours.cpuMicros.toFixed(1)} µs of CPU per probe, kubelet ${kubelet.cpuMicros.toFixed(1)} µs`;

/** `httpVsKubelet` and so on: the median of the rounds, and the least and the greatest. */
function report(rounds: ReadonlyMap<string, readonly Round[]>): void {
  const rows = [...rounds].map(([kind, done]) => {
    const ratios = done.map(ratioOf).toSorted((a, b) => a - b);
    const middle = (pick: (round: Round) => number) => median(done.map(pick));
    return {
      kind,
      ratio: median(ratios),
      spread: [ratios[0] ?? Number.NaN, ratios.at(-1) ?? Number.NaN] as const,
      ours: middle(({ ours }) => ours.cpuMicros),
      kubelet: middle(({ kubelet }) => kubelet.cpuMicros),
      rssMb: middle(({ ours }) => ours.rssMb),
    };
  });
  if (values.json) {
    const ratios = Object.fromEntries(rows.map(({ kind, ratio }) => [`${kind}VsKubelet`, ratio]));
    const spreads = Object.fromEntries(rows.map(({ kind, spread }) => [`${kind}VsKubelet`, spread]));
    const cpuMicros = Object.fromEntries(rows.map(({ kind, ours }) => [kind, ours]));
    const paced = rows.find(({ kind }) => kind === 'paced');
    const ofPaced = paced && { paced: { cpuMicrosPerProbe: paced.ours, rssMb: paced.rssMb } };
    console.log(JSON.stringify({ ratios, spreads, cpuMicros, ...ofPaced }));
    return;
  }
  for (const { kind, ratio, spread, ours, kubelet, rssMb } of rows) {
    const range = spread.map((one) => one.toFixed(2)).join(' to ');
    const memory = kind === 'paced' ? `, ${rssMb.toFixed(0)} MB` : '';
    console.log(
      `${kind} ratio ${ratio.toFixed(2)} (${range}): ${ours.toFixed(1)} µs against ${kubelet.toFixed(1)} µs${memory}`,
    );
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - (sorted.length % 2 === 0 ? 1 : 0)], sorted[middle]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

if (process.env[inNetwork] === undefined) process.exitCode = enterNetwork();
else await bench();
