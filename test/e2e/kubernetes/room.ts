/** The node, in namespaces of its own: the API server, the containers, the prober and the cases all run here. */
import { mkdirSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { targetPath } from '../../support/api-client.ts';
import { exactly, figureLines } from '../../support/figures.ts';
import { say, tallyOf } from '../../support/tally.ts';
import { register } from '../api.ts';
import { type RealWorld, startRealWorld } from '../real-world.ts';
import { serveCluster } from './api-server.ts';
import { cases } from './cases.ts';
import { Cluster } from './cluster.ts';
import { declaredTexts } from './declared.ts';
import { Ginkgo } from './ginkgo.ts';
import { canary, openNode } from './network.ts';
import { type Chosen, chosenOf, playAll } from './player.ts';
import { Runtime } from './runtime.ts';

export type Asked = Chosen & {
  /** Of the programs that were built from Kubernetes' module. */
  readonly programs: string;
  /** For everything that is written. */
  readonly folder: string;
};

/** Healthy targets beside the Pods: the prober holds failures back when more than three in ten targets fail at once. */
const neighbours = 160;

const asked = JSON.parse(process.argv[2] ?? '') as Asked;
const { lifecycle, programs, folder } = asked;
const chosen = chosenOf(asked);
const folderOf = (name: string): string => {
  mkdirSync(join(folder, name));
  return join(folder, name);
};
const { verdict, end } = tallyOf();

async function addNeighbours(world: RealWorld): Promise<void> {
  const readinessProbe = { tcpSocket: { port: canary.port } };
  for (let at = 0; at < neighbours; at += 1)
    await register(world.api, targetPath(`neighbour-${at}`, 'neighbours'), { host: canary.host, readinessProbe });
}

/** Dozens of cases and containers must not stall the prober, which would then doubt itself and void failures. */
function preferProber(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGH);
  } catch {
    say('noted: the prober has no priority over the cases, which takes CAP_SYS_NICE');
  }
}

function answerCanary(): void {
  const server = createServer((socket) => socket.on('error', () => undefined).destroy());
  server.listen(canary.port, canary.host);
}

type Result = {
  readonly passed: number;
  /** probelet's own texts that differ as declared. */
  readonly said: readonly string[];
};

/** Kubernetes' assertions and the texts, case by case. */
async function play(world: RealWorld, runtime: Runtime): Promise<Result> {
  const cluster = new Cluster({ lifecycle, runtime, probelet: world.api });
  const events = openSync(join(folder, 'events.jsonl'), 'a');
  const unsubscribe = world.subscribe((event) => {
    writeSync(events, `${JSON.stringify(event)}\n`);
    cluster.on(event);
  });
  const ginkgo = new Ginkgo(join(programs, 'cases'), folderOf('cases'));
  const stage = { ginkgo, cluster, lifecycle, execIn: runtime.execIn, server: await serveCluster(cluster) };
  const said: string[] = [];
  let passed = 0;
  const undeclared = await playAll(stage, chosen, ({ name, seconds, faults, declared }) => {
    verdict(`${seconds.toFixed(0).padStart(4)} s  ${name}`, faults);
    said.push(...declared);
    passed += faults.length === 0 ? 1 : 0;
  });
  unsubscribe();
  await cluster.stop();
  for (const fault of cluster.faults) verdict('between the cluster and probelet', [fault]);
  for (const difference of undeclared) verdict('the cases are those of container_probe.go', [difference]);
  for (const note of cluster.notes) say(`noted: ${note}`);
  return { passed, said };
}

/** The differences, each with its reason. One that is not seen any more is to be removed from its list. */
function tellDeclared(said: readonly string[]): void {
  for (const { difference, text, why } of declaredTexts) {
    const times = said.filter((each) => each === text).length;
    if (times > 0) say(`declared, difference ${difference}, ${times} times: "${text}": ${why}`);
    else if (chosen.length === cases.length) verdict(`"${text}" differs as declared`, false);
  }
  for (const { name, notStatic } of cases)
    if (lifecycle === 'static' && notStatic !== undefined) say(`not for static: ${name}: ${notStatic}`);
}

openNode();
answerCanary();
const startedMs = performance.now();
const runtime = new Runtime(folderOf('pods'), join(programs, 'agnhost'));
const options = ['--canary', `${canary.host}:${canary.port}`];
const world = await startRealWorld({ programs: [runtime.execProgram], options });
preferProber(world.pid());
await addNeighbours(world);
say(`${chosen.length} of ${cases.length} cases at once, lifecycle ${lifecycle}; logs: ${folder}`);
const { passed, said } = await play(world, runtime);
await world.stop();
tellDeclared(said);
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
const figure = exactly(`cases of Kubernetes passed, lifecycle ${lifecycle}, in ${seconds} s`, passed, chosen.length);
for (const line of figureLines([figure])) say(line);
end();
process.exit();
