/** What each parser of the API and of the configuration costs in one turn of the event loop, at its costliest input. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { clientTurns } from '../../functions/local/server/client-turns.ts';
import { configParser } from '../../functions/local/threads/config-parser.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { startOfProduct } from '../bench/world.ts';
import { type Figure, judged } from '../support/figures.ts';
import { recordingLog } from '../support/recording-log.ts';
import { type CostlyBody, costlyBodies, yamlTexts } from './bodies.ts';
import { longestTurn } from './longest-turn.ts';

/** The least of so many runs counts: collections of garbage and a busy machine only add. */
const runs = 3;
const turnMsMax = 20;
const configBytes = 256 * 1024;

/** `answer`: what came of it. */
export type Cost = { readonly name: string; readonly ms: number; readonly answer: string };

export type CostOptions = { readonly only: string; readonly say: (line: string) => void };

/** What the process that measures says: a line, or all figures at the end. */
export type CostsSaid = { readonly line: string } | { readonly figures: readonly Figure[] };

/** Measures in a process with the options of `npm start`, which makes V8 compile less. */
export function costsStage({ only, say }: CostOptions): Promise<readonly Figure[]> {
  const { command, env } = startOfProduct();
  const path = fileURLToPath(new URL('costs-process.ts', import.meta.url));
  const child = fork(path, [only], { execArgv: command.slice(1, -1), env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    child.on('message', (said: CostsSaid) => ('line' in said ? say(said.line) : resolve(said.figures)));
    child.once('exit', (code) => reject(new Error(`the process that measures has ended: ${code}`)));
  });
}

export async function measuredCosts({ only, say }: CostOptions): Promise<readonly Figure[]> {
  const isWanted = ({ name }: { readonly name: string }) => name.includes(only);
  const configs = Object.entries(yamlTexts(configBytes)).map(([name, text]) => ({
    name: `configuration: ${name}`,
    text,
  }));
  const costs = [
    ...(await bodyCosts(costlyBodies.filter(isWanted), say)),
    ...(await configCosts(configs.filter(isWanted), say)),
  ];
  return costs.map(({ name, ms, answer }) =>
    judged(`cost in one turn: ${name} (${answer})`, `${ms.toFixed(1)} ms`, {
      limit: `≤ ${turnMsMax} ms`,
      holds: ms <= turnMsMax,
    }),
  );
}

export async function bodyCosts(bodies: readonly CostlyBody[], say: (line: string) => void): Promise<readonly Cost[]> {
  const ports = { clock: systemClock, random: systemRandom, log: recordingLog() };
  const { known: turns } = clientTurns();
  const runtime = startRuntime({ dataDir: ':memory:' }, { ...ports, turns });
  const ask = async (body: CostlyBody): Promise<string> => {
    await turns.pause();
    const response = await runtime.fetch(requestOf(body));
    const text = await response.text();
    return `${response.status} ${/"(?:code|slug|type)":"[^"]*:([^":]*)"/.exec(text)?.[1] ?? ''}`.trim();
  };
  const costs: Cost[] = [];
  for (const body of bodies) costs.push(await leastCost(body.name, () => ask(body), say));
  await runtime.stop();
  return costs;
}

async function configCosts(
  texts: readonly { readonly name: string; readonly text: string }[],
  say: (line: string) => void,
): Promise<readonly Cost[]> {
  const parse = configParser(systemClock, new AbortController().signal);
  const costs: Cost[] = [];
  for (const { name, text } of texts)
    costs.push(
      await leastCost(
        name,
        async () => {
          const read = await parse(text);
          return read.kind === 'invalid' ? (read.problems[0]?.detail.slice(0, 40) ?? '') : read.kind;
        },
        say,
      ),
    );
  return costs;
}

async function leastCost(name: string, act: () => Promise<string>, say: (line: string) => void): Promise<Cost> {
  let [ms, answer] = [Number.POSITIVE_INFINITY, ''];
  const startMs = performance.now();
  for (let run = 0; run < runs; run += 1) {
    const longest = await longestTurn(act);
    ms = Math.min(ms, longest.ms);
    answer = longest.result;
  }
  const wholeMs = (performance.now() - startMs) / runs;
  say(`${ms.toFixed(1).padStart(8)} ms in one turn, ${wholeMs.toFixed(0).padStart(6)} ms in all: ${name} (${answer})`);
  return { name, ms, answer };
}

const requestOf = ({ method, path, type, body }: CostlyBody): Request =>
  new Request(`http://127.0.0.1${path}`, { method, headers: { 'content-type': type }, body });
