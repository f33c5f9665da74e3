/**
 * `npm run bench:cold`: each function bundled as it is deployed, its size, its largest inputs, and the CPU that its
 * cold start takes beyond that of an empty function: a process per trial, as each cold start is one. Fails above the
 * limits.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundling, entryFile, type FunctionName, functionNames } from '../../functions/bundling.ts';

const trials = 9;
const cpuMsMax = 120;
const bytesMax = 1_200_000;
const inputsShown = 8;

/** Loads a file as Lambda's runtime does, and reports what that took. The floor is the same process without it. */
const trial = `
const before = process.cpuUsage();
await import(process.argv[1]);
const { user, system } = process.cpuUsage(before);
process.stdout.write(String((user + system) / 1000));
`;

const environment = {
  AWS_REGION: 'us-east-1',
  PROBELET_TABLE: 'table',
  PROBELET_BUS: 'bus',
  PROBELET_SHARD_QUEUE_URL: 'http://127.0.0.1/queue.fifo',
  PROBELET_RELEASE: 'bench',
  PROBELET_MODE: 'auto',
  PROBELET_CAPACITY_MB: '256',
};

const folder = mkdtempSync(join(tmpdir(), 'probelet-cold-'));
try {
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, 'export const handler = async () => {};\n');
  const emptyMs = coldMs(empty);
  console.log(`empty function: ${emptyMs.toFixed(0)} ms`);
  for (const name of functionNames) if (!(await measured(name, emptyMs))) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** true: within the limits. */
async function measured(name: FunctionName, emptyMs: number): Promise<boolean> {
  const file = join(folder, `${name}.mjs`);
  const { banner, ...options } = bundling;
  const { metafile } = await build({
    ...options,
    entryPoints: [entryFile(name)],
    outfile: file,
    metafile: true,
    banner: { js: banner },
    logLevel: 'warning',
  });
  const bytes = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint)?.bytes ?? 0;
  const cpuMs = coldMs(file) - emptyMs;
  console.log(`\n${name}: ${(bytes / 1_000).toFixed(0)} KB, ${cpuMs.toFixed(0)} ms of CPU over an empty function`);
  for (const [input, size] of largestInputs(metafile))
    console.log(`  ${(size / 1_000).toFixed(0).padStart(5)} KB  ${input}`);
  const isWithin = bytes <= bytesMax && cpuMs <= cpuMsMax;
  if (!isWithin) console.log(`  over the limit of ${bytesMax / 1_000} KB and ${cpuMsMax} ms`);
  return isWithin;
}

/** Median. */
function coldMs(file: string): number {
  const times = Array.from({ length: trials }, () => {
    const args = ['--input-type=module', '--eval', trial, file];
    return Number(execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...environment } }));
  });
  return times.sort((a, b) => a - b)[trials >> 1] ?? Number.NaN;
}

/** By package, or by folder of this project. */
function largestInputs({ outputs }: Metafile): readonly (readonly [string, number])[] {
  const sizes = new Map<string, number>();
  for (const { inputs } of Object.values(outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.split('/').slice(0, 2).join('/');
      sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
    }
  return [...sizes].sort(([, a], [, b]) => b - a).slice(0, inputsShown);
}
