/**
 * The world of `npm start`: its real composition root over a simulated disk, clock, network, bus and receivers. One
 * process lives in it at a time; a power loss ends a life, and the next one begins with what the disk has kept.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigSetup } from '../../../functions/local/config/config-file.ts';
import { type Runtime, startRuntime } from '../../../functions/local/process/runtime.ts';
import { alertRules } from '../../../shared/alerts/alert-rule.ts';
import { parseConfig } from '../../../shared/config/read-config.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { type BusFaults, simulatedBus } from './bus.ts';
import { type Disk, simulatedDisk } from './disk.ts';
import { type FileMachine, fileMachine } from './file-machine.ts';
import { type ConfigFiles, configFiles } from './files.ts';
import { type Life, newLife } from './life.ts';
import { scriptedProbing } from './probing.ts';
import { senderTo, simulatedReceiver } from './receivers.ts';
import { proberAlert, type TargetTruth, type Truth, targetAlert } from './truth.ts';

export type StartWorld = {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly disk: Disk;
  readonly truth: Truth;
  /** Those of targets, if the configuration names any. */
  readonly files: ConfigFiles | undefined;
  /** What reads them. */
  readonly machine: FileMachine;
  readonly receivers: ReadonlyMap<string, ReturnType<typeof simulatedReceiver>>;
  readonly bus: BusFaults;
  /** The process that lives. */
  life: Life;
  runtime: Runtime;
  /** Another life, after the end of the present one. */
  restart(): void;
};

const receiverNames = ['ops', 'desk'];
const firstPort = 9_001;
/** Of the targets' probes. One is so short that no wait of the process hides behind that for a probe's next instant. */
const periodsSeconds = [2, 10, 10, 10];
export const teams: readonly string[] = ['red', 'blue', 'green'];
const productSeed = 0x5eed;

/** `root`: a folder for the files of all lives. */
export function buildStartWorld(seed: number, root: string, hasFiles: boolean): StartWorld {
  const clock = virtualClock();
  const random = seededRandom(seed);
  const productRandom = seededRandom(seed ^ productSeed);
  const disk = simulatedDisk(root, { clock, random });
  mkdirSync(disk.folder(), { mode: 0o700 });
  const machine = fileMachine({ clock, random });
  const files = hasFiles ? configFiles(root, { clock, random, changed: machine.changed }) : undefined;
  const targets = periodsSeconds.map((periodSeconds, index): TargetTruth => {
    const port = firstPort + index;
    const times = { turnedMs: 0, editedMs: 0, probedMs: 0 };
    return { name: `t${index}`, port, periodSeconds, isDown: false, team: undefined, ...times };
  });
  const truth: Truth = {
    ...{ targets, teams: ['red', 'blue'], teamsChangedMs: 0 },
    ...{ hasProberAlert: true, proberAlertChangedMs: 0 },
  };
  const receivers = new Map(receiverNames.map((name) => [name, simulatedReceiver(name)]));

  const bus: BusFaults = { fault: undefined, hasBursts: false, reached: { full: 0, failed: 0 } };

  /** What is open is reported again, and only a person can end what is over. */
  const closeAll = () => {
    for (const receiver of receivers.values()) receiver.closeAll();
  };

  const begin = (): Pick<StartWorld, 'life' | 'runtime'> => {
    const life = newLife(clock);
    const ports = { clock: life.clock, random: productRandom };
    const runtime = startRuntime(
      { dataDir: disk.folder(), config: configOf(truth, files) },
      {
        ...ports,
        log: recordingLog(),
        openStore: disk.openStore(life),
        openAlertLog: disk.openAlertLog(life, closeAll),
        openSender: senderTo(receivers, life, { clock: life.clock, random }),
        probing: scriptedProbing(truth, life, random),
        wrapBus: () => simulatedBus(life, { random, productRandom, faults: bus }),
        ...machine.ports(life),
      },
    );
    return { life, runtime };
  };
  const world: StartWorld = {
    ...{ clock, random, disk, truth, files, machine, receivers, bus },
    ...begin(),
    restart() {
      Object.assign(world, begin());
    },
  };
  return world;
}

/** The configuration as it stands in its file. */
function configOf(truth: Truth, files: ConfigFiles | undefined): ConfigSetup {
  const notify = receiverNames.join(', ');
  const named = receiverNames.map((name) => `  - { name: ${name}, slack: { url: "https://${name}.test/x" } }\n`);
  const labels = `team in (${truth.teams.join(', ')})`;
  const ofProber = `  - { name: ${proberAlert}, match: { pattern: { detail-type: [Prober Degraded] } }, notify: [${notify}] }\n`;
  const alerts = [
    `  - { name: ${targetAlert}, match: { labels: "${labels}" }, notify: [${notify}] }\n`,
    ...(truth.hasProberAlert ? [ofProber] : []),
  ];
  const read = parseConfig(`alerts:\n${alerts.join('')}receivers:\n${named.join('')}`);
  if (read.kind === 'invalid') throw new Error(read.problems.map(({ detail }) => detail).join('; '));
  const { folder = '/nonexistent' } = files ?? {};
  return {
    path: join(folder, 'probelet.yaml'),
    folder,
    targets: files ? [{ files: [files.pattern] }] : [],
    alerts: {
      rules: alertRules(read.config),
      receivers: receiverNames.map((name) => ({ kind: 'slack', name, url: `https://${name}.test/x` })),
    },
    names: receiverNames,
    version: 'ENOENT',
    again: async () => configOf(truth, files),
  };
}
