/**
 * `npm run bench:function-memory -- --targets N --memory MB`: the memory of the prober function as it is bundled, on an
 * emulator of AWS, with the flags that Lambda's runtime gives Node, while it holds N targets for some minutes. Every
 * server is healthy, and one failure counts, so a result that was ever other than success is the function's doing.
 * `--period` in seconds, `--seconds` for how long. Exits with 1 unless all results are successes.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type { HttpAnswer } from '../../functions/api/http-event.ts';
import { bundling, entryFile } from '../../functions/bundling.ts';
import { systemClock as clock, sleep } from '../../shared/lib/clock.ts';
import { deployed } from '../functions/deployment.ts';
import { functionThreads } from '../functions/function-threads.ts';
import { httpEvent } from '../functions/http-events.ts';
import { answerOf, forkServer } from '../support/children.ts';
import { inLanes } from '../support/lanes.ts';
import { memoryOf, mib } from '../support/process-memory.ts';

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '100' },
    memory: { type: 'string', default: '192' },
    period: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '200' },
  },
});
const [targets, memoryMb, seconds] = [values.targets, values.memory, values.seconds].map(Number) as [
  number,
  number,
  number,
];

const periodSeconds = Number(values.period);
const lanes = 8;
const pageMax = 500;
/** Before the end the results are read. The run ends by itself some seconds before its time is over. */
const readBeforeMs = 40_000;

/** A tenth of the memory is for new objects. Source: /var/runtime/bootstrap of Lambda's Node runtimes. */
const newMb = Math.floor(memoryMb / 10);
const flags = [
  '--expose-gc',
  `--max-semi-space-size=${Math.floor(newMb / 2)}`,
  `--max-old-space-size=${memoryMb - newMb}`,
];

const megabytes = (bytes: number): number => Math.round(bytes / mib);

const deployment = await deployed();
const functions = functionThreads(process.env as Record<string, string>);
const server = await forkServer('./healthy-server.ts', import.meta.url);
try {
  await registerAll();
  await functions.invoke('schedule', {});
  const outfile = await bundled();
  const child = fork(join(import.meta.dirname, 'function-process.ts'), [outfile], { execArgv: flags, silent: true });
  await answerOf(child);
  const done = answerOf(child, { event: await deployment.shardEvent(), forMs: seconds * 1_000 });
  await Promise.race([sleep(clock, seconds * 1_000 - readBeforeMs), done]);
  const probes = await listed();
  const ok = probes.filter(({ result, version }) => result === 'success' && version === 1).length;
  await done;
  const { highest, anonymous } = memoryOf(child);
  console.log(
    `${targets} targets at ${periodSeconds} s in a function of ${memoryMb} MB: ${megabytes(highest)} MB resident at most, ` +
      `${megabytes(anonymous)} MB of them anonymous, in ${seconds} s; ${ok} of ${targets} probes had no result but success`,
  );
  process.exitCode = ok === targets ? 0 : 1;
  child.kill();
} finally {
  await functions.stop();
  server.child.disconnect();
  await deployment.stop();
}

async function registerAll(): Promise<void> {
  const readinessProbe = { httpGet: { path: '/', port: server.port }, periodSeconds, failureThreshold: 1 };
  const body = { spec: { host: '127.0.0.1', readinessProbe } };
  const names = Array.from({ length: targets }, (_, at) => `memory-${at}`);
  await inLanes(names, lanes, async (name) => {
    const event = httpEvent('PUT', `/v1/namespaces/default/targets/${name}`, { body });
    const answer = await functions.invoke('api', event);
    if ((answer as HttpAnswer).statusCode !== 201) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  });
}

type Listed = { readonly result: string; readonly version: number };

async function listed(): Promise<readonly Listed[]> {
  const probes: Listed[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const query: string = `limit=${pageMax}${token && `&continue=${encodeURIComponent(token)}`}`;
    const answer = (await functions.invoke('api', httpEvent('GET', '/v1/targets', { query }))) as HttpAnswer;
    const page = JSON.parse(answer.body ?? '') as Page;
    probes.push(...page.items.flatMap(({ status }) => status.probes));
    token = page.continue;
  }
  return probes;
}

type Page = {
  readonly items: readonly { readonly status: { readonly probes: readonly Listed[] } }[];
  readonly continue?: string;
};

async function bundled(): Promise<string> {
  const { banner, ...options } = bundling;
  const outfile = join(import.meta.dirname, '../../node_modules/.cache/probelet/function-memory.mjs');
  await build({ ...options, entryPoints: [entryFile('prober')], outfile, banner: { js: banner }, logLevel: 'warning' });
  return outfile;
}
