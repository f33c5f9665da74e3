/** Kills `npm start` at random points while its world changes, and compares what receivers show with what lasts. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Random } from '../../../shared/lib/random.ts';
import { endProduct, spawnProduct, startProduct } from '../../local/product.ts';
import type { Tally } from '../../support/tally.ts';
import { pause, until } from '../../support/wait.ts';
import { KillWorld } from './kill-world.ts';

const program = new URL('../../../functions/local/start.mjs', import.meta.url).pathname;
/** Kills until the world rests and is looked at. */
const killsPerEpisode = 20;
/** Kills between two changes of the world. */
const killsPerChange = 5;
/** The life of a process after its API listens. */
const aliveMsMax = 1_200;
/** After a step of the clock everything is probed again within a minute. */
const patience = { withinMs: 120_000, pollMs: 100 };
/** What has been shown must stay: nothing else may be sent behind it. */
const restMs = 1_000;
const logEndCharacters = 300;

export type KillOptions = { readonly kills: number; readonly random: Random };

export async function judgeKills({ kills, random }: KillOptions, verdict: Tally['verdict']): Promise<void> {
  const world = await KillWorld.begin(random);
  const options = { program, command: world.command, env: world.env };
  const startedMs = performance.now();
  await (await startProduct(world.args, options)).stop();
  const startMs = performance.now() - startedMs;
  const endedByItself: string[] = [];
  const kill = async () => {
    const log = openSync(world.logPath, 'w');
    const wasFull = world.isFull;
    const child = spawnProduct(world.args, options, ['ignore', log, log]);
    await pause(startMs * 0.3 + random.next() * (startMs * 0.7 + aliveMsMax));
    // With a full disk it cannot begin, and says so.
    if (child.exitCode !== null && !wasFull)
      endedByItself.push(
        `exit code ${child.exitCode}: ${readFileSync(world.logPath, 'utf8').slice(-logEndCharacters)}`,
      );
    await endProduct(child, 'SIGKILL');
    closeSync(log);
  };
  try {
    for (let killed = 0; killed < kills; ) {
      world.behave(false);
      for (const endKills = Math.min(kills, killed + killsPerEpisode); killed < endKills; killed += 1) {
        if (killed % killsPerChange === 0) {
          world.free();
          world.change();
        }
        await kill();
      }
      world.free();
      world.behave(true);
      const product = await startProduct(world.args, options);
      await until('', patience, () => world.wrong().length === 0).catch(() => undefined);
      await pause(restMs);
      verdict(`${killed} kills: each receiver shows what lasts, and nothing else`, world.wrong());
      await product.stop();
    }
    verdict(`${world.arrived()} notifications: signed and whole, no end without a beginning`, world.faults());
    verdict('no process ended by itself', endedByItself);
  } finally {
    await world.end();
  }
}
