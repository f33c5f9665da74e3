/**
 * `npm run e2e:apply`: 10,000 targets by `probelet apply` against `npm start`. One run is killed at random points and
 * repeated; what it leaves must be what one whole run leaves. Prints rates and memory. `--seed N` repeats a run. Ends
 * with `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startProduct } from '../../local/product.ts';
import { memoryOf, mib } from '../../support/process-memory.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { say, tallyOf } from '../../support/tally.ts';

const files = 10;
const targetsOfFile = 1_000;
const count = files * targetsOfFile;
const kills = 4;
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const program = new URL('../../../functions/cli/main.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'probelet-apply-'));
const { verdict, end } = tallyOf();

type Ran = {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
  readonly mb: number;
};

/** `linesMax`: it is killed once it has printed so many. */
async function run(args: readonly string[], linesMax = Number.POSITIVE_INFINITY): Promise<Ran> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, PROBELET_URL: product.url } });
  const text = { out: '', err: '' };
  let lines = 0;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text.out += piece;
    lines += piece.split('\n').length - 1;
    if (lines >= linesMax) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (text.err += piece));
  let mb = 0;
  const watch = setInterval(() => (mb = Math.max(mb, peakMb(child))), 100);
  const ended = once(child, 'close');
  const [code] = await ended;
  clearInterval(watch);
  return { ...text, code, mb, ms: performance.now() - startMs };
}

/** Of a process that runs; elsewhere than on Linux 0. */
function peakMb(child: { readonly pid?: number | undefined }): number {
  try {
    return memoryOf(child).highest / mib;
  } catch {
    return 0;
  }
}

/** Probed only after hours, so that the prober stays out of the figures. */
const manifest = (index: number, port: number) => `metadata: { name: t-${index}, labels: { team: team-${index % 10} } }
spec: { host: 127.0.0.1, readinessProbe: { tcpSocket: { port: ${port} }, initialDelaySeconds: 36000, periodSeconds: 60 } }
`;

function writeFiles(): string {
  const path = join(folder, 'manifests');
  mkdirSync(path);
  for (let file = 0; file < files; file += 1) {
    const indices = Array.from({ length: targetsOfFile }, (_, at) => file * targetsOfFile + at);
    writeFileSync(
      join(path, `${file}.yaml`),
      indices.map((index) => manifest(index, 8_000 + (index % 100))).join('---\n'),
    );
  }
  return path;
}

/** What a client decides of each target, by name. */
async function stored(namespace: string): Promise<{ readonly [name: string]: string }> {
  const { out } = await run(['get', 'targets', '-n', namespace, '-o', 'json']);
  type Item = { readonly metadata: { readonly name: string; readonly labels: object }; readonly spec: object };
  const items: readonly Item[] = JSON.parse(out).items;
  return Object.fromEntries(
    items.map(({ metadata: { name, labels }, spec }) => [name, JSON.stringify([labels, spec])]),
  );
}

/** Of all targets, in the pages that the command line asks for. */
async function measureGet(format: string): Promise<void> {
  const { out, err, ms, mb } = await run(['get', 'targets', '-n', 'whole', '-o', format]);
  const names = new Set(out.match(/\bt-\d+\b/g));
  const what = `get targets -o ${format} prints ${names.size} in ${(ms / 1_000).toFixed(1)} s with ${mb.toFixed(0)} MB`;
  verdict(what, names.size === count ? [] : [err]);
}

const perSecond = ({ ms }: Ran): string => `${(count / (ms / 1_000)).toFixed(0)} targets/s`;

say(`seed ${seed}`);
const product = await startProduct(['--port', '0', '--data-dir', join(folder, 'data')]);
try {
  const manifests = writeFiles();
  const apply = (namespace: string) => ['apply', '-f', manifests, '-n', namespace, '--prune'];
  const whole = await run(apply('whole'));
  verdict(
    `${count} targets are applied at ${perSecond(whole)} with ${whole.mb.toFixed(0)} MB`,
    whole.code === 0 ? [] : [whole.err],
  );
  for (const format of ['wide', 'name', 'json']) await measureGet(format);
  let done = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const linesMax = 1 + Math.floor(random.next() * (count - 1));
    const killed = await run(apply('killed'), linesMax);
    const created = killed.out.match(/ created$/gm)?.length ?? 0;
    done += created;
    say(
      `       killed after ${linesMax} lines: ${killed.code === null ? 'no exit code' : 'it had ended'}, ${created} created`,
    );
  }
  const last = await run(apply('killed'));
  verdict(`a run that was killed ${kills} times is completed by the next`, last.code === 0 ? [] : [last.err]);
  verdict('it had begun before', done > 0);
  const [wanted, found] = [await stored('whole'), await stored('killed')];
  verdict('both have left the same targets', wrongNames(wanted, found));
  const again = await run(apply('killed'));
  const unchanged = again.out.match(/ unchanged$/gm)?.length;
  verdict(`once more changes nothing, at ${perSecond(again)}`, again.code === 0 && unchanged === count);
} finally {
  await product.stop();
  rmSync(folder, { recursive: true, force: true });
}
end();

function wrongNames(wanted: { readonly [name: string]: string }, found: { readonly [name: string]: string }) {
  const names = Object.keys({ ...wanted, ...found }).filter((name) => wanted[name] !== found[name]);
  return Object.keys(wanted).length === count ? names : [`${Object.keys(wanted).length} targets`, ...names];
}
