/** The product in this process, its store in memory, its clock moved by the test: minutes pass in moments. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Runtime, startRuntime } from '../../functions/local/process/runtime.ts';
import { slotAt } from '../../shared/core/shards/slots.ts';
import { parseAllowList } from '../../shared/exec/allow-list.ts';
import { askApi } from '../support/api-client.ts';
import { type Ends, quietProcess, unansweredBook } from '../support/quiet-process.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { allowedPrograms, type World, type WorldEvent } from './world.ts';

export type InjectedWorld = World & {
  readonly runtime: Runtime;
  readonly log: ReturnType<typeof recordingLog>;
};

export type InjectedWorldOptions = {
  readonly seed?: number;
  /** A file's folder, to stop and start on the same data; default: in memory. */
  readonly dataDir?: string;
  readonly mode?: 'auto' | 'resident' | 'tick';
  /** Whether each target has metrics of its own; default true. */
  readonly targetMetrics?: boolean;
};

/** Two minutes before a slot ends, so that every longer scenario also sees a hand-over between two runs. */
const startMs = slotAt({ from: 0, mode: 'resident' }, Date.UTC(2030, 0, 1)).endMs - 120_000;

export function startInjectedWorld(given: InjectedWorldOptions = {}): InjectedWorld {
  const { seed = 1, dataDir = ':memory:', mode = 'resident', targetMetrics = true } = given;
  const folder = mkdtempSync(join(tmpdir(), 'probelet-e2e-'));
  const unanswered = unansweredBook();
  unanswered.watch(() => hangingCommands(folder));
  const clock = virtualClock({ startMs, quiet: quietProcess(unanswered) });
  const log = recordingLog();
  const allowed = parseAllowList(allowedPrograms.join('\n'));
  if (allowed.kind !== 'ok') throw new Error(allowed.detail);
  const options = { dataDir, allowExec: allowed.allows, mode, targetMetrics };
  const runtime = startRuntime(options, { clock, random: seededRandom(seed), log });
  return {
    clock,
    folder,
    unanswered,
    slackMs: 0,
    runtime,
    log,
    api: (method, path, body) => askApi(runtime, method, path, body),
    subscribe: (listener) =>
      runtime.bus.subscribe({ source: ['probelet'] }, (event) => listener(event as WorldEvent), { name: 'scenario' }),
    play: (promise) => clock.runUntil(promise),
    async stop() {
      await clock.runUntil(runtime.stop());
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * `hanging-<pid>`: a probe's command that does not end; `orphan-<pid>`: a process it left, which keeps its output open.
 */
const hanging = /^(hanging|orphan)-(\d+)$/;

function hangingCommands(folder: string): Ends {
  const alive = readdirSync(folder)
    .map((file) => hanging.exec(file))
    .filter((match) => match !== null && isAlive(Number(match[2])));
  const commands = alive.filter((match) => match?.[1] === 'hanging').length;
  return { processes: commands, pipes: pipesOfCommand * alive.length };
}

/** Standard output and standard error. */
const pipesOfCommand = 2;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isZombie(pid);
  } catch {
    return false;
  }
}

/** A killed orphan is a zombie until the machine's first process collects it. Its state follows its name. */
function isZombie(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && / Z /.test(readFileSync(path, 'utf8').replace(/^.*\)/s, ''));
}
