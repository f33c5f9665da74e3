/**
 * The world of `npm start`: its real composition root over a simulated disk, clock, network, bus and receivers. One
 * process lives in it at a time; a power loss ends a life, and the next one begins with what the disk has kept.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigSetup } from '../../../functions/local/config-file.ts';
import { type Runtime, startRuntime } from '../../../functions/local/runtime.ts';
import { alertRules } from '../../../shared/alerts/alert-rule.ts';
import type { InProcessBus } from '../../../shared/bus/in-process.ts';
import { parseConfig } from '../../../shared/config/read-config.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { type Disk, simulatedDisk } from './disk.ts';
import { type Life, newLife } from './life.ts';
import { scriptedProbing } from './probing.ts';
import { senderTo, simulatedReceiver } from './receivers.ts';
import type { TargetTruth, Truth } from './truth.ts';

export type StartWorld = {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly disk: Disk;
  readonly truth: Truth;
  readonly receivers: ReadonlyMap<string, ReturnType<typeof simulatedReceiver>>;
  /** Alerts lose most of their events, as when their queue is full. */
  losesEvents: boolean;
  /** The process that lives. */
  life: Life;
  runtime: Runtime;
  /** Another life, after a power loss. */
  restart(): void;
};

const receiverNames = ['ops', 'desk'];
const firstPort = 9_001;
const targetCount = 4;
export const teams: readonly string[] = ['red', 'blue', 'green'];
const productSeed = 0x5eed;

/** `root`: a folder for the files of all lives. */
export function buildStartWorld(seed: number, root: string): StartWorld {
  const clock = virtualClock();
  const random = seededRandom(seed);
  const productRandom = seededRandom(seed ^ productSeed);
  const disk = simulatedDisk(root, { clock, random });
  mkdirSync(disk.folder(), { mode: 0o700 });
  const targets = Array.from({ length: targetCount }, (_, index): TargetTruth => {
    const port = firstPort + index;
    return { name: `t${index}`, port, isDown: false, team: undefined, turnedMs: 0, editedMs: 0, probedMs: 0 };
  });
  const truth: Truth = { targets, teams: ['red', 'blue'], teamsChangedMs: 0 };
  const receivers = new Map(receiverNames.map((name) => [name, simulatedReceiver(name)]));

  const begin = (): Pick<StartWorld, 'life' | 'runtime'> => {
    const life = newLife(clock);
    const ports = { clock: life.clock, random: productRandom };
    const wrapBus = (bus: InProcessBus): InProcessBus => ({
      ...bus,
      subscribe: (pattern, subscriber, options) =>
        bus.subscribe(pattern, (event) => (isLost(options?.name) ? undefined : subscriber(event)), options),
    });
    const isLost = (name = '') => name === 'alerts' && world.losesEvents && random.next() < 0.7;
    const runtime = startRuntime(
      { dataDir: disk.folder(), config: configOf(truth) },
      {
        ...ports,
        log: recordingLog(),
        openStore: disk.openStore(life),
        openAlertLog: disk.openAlertLog(life),
        openSender: senderTo(receivers, life, { clock: life.clock, random }),
        probing: scriptedProbing(truth, life, random),
        wrapBus,
      },
    );
    return { life, runtime };
  };
  const world: StartWorld = {
    ...{ clock, random, disk, truth, receivers, losesEvents: false },
    ...begin(),
    restart() {
      Object.assign(world, begin());
    },
  };
  return world;
}

/** The configuration as it stands in its file. */
function configOf(truth: Truth): ConfigSetup {
  const notify = receiverNames.join(', ');
  const named = receiverNames.map((name) => `  - { name: ${name}, slack: { url: "https://${name}.test/x" } }\n`);
  const labels = `team in (${truth.teams.join(', ')})`;
  const read = parseConfig(
    `alerts:\n  - { name: down, match: { labels: "${labels}" }, notify: [${notify}] }\nreceivers:\n${named.join('')}`,
  );
  if (read.kind === 'invalid') throw new Error(read.problems.map(({ detail }) => detail).join('; '));
  const folder = '/nonexistent';
  return {
    path: join(folder, 'probelet.yaml'),
    folder,
    targets: [],
    alerts: {
      rules: alertRules(read.config),
      receivers: receiverNames.map((name) => ({ kind: 'slack', name, url: `https://${name}.test/x` })),
    },
    names: receiverNames,
    version: 'ENOENT',
    again: async () => configOf(truth),
  };
}
