/**
 * The process in a room (see link.ts): it sets up the link, runs the product, cuts the network and sends the figures to
 * its parent. It is the first process of its process namespace, so all processes in the room end with it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../../../support/children.ts';
import type { Figure } from '../../../support/figures.ts';
import { startRealWorld } from '../../real-world.ts';
import type { Length } from '../step.ts';
import type { Asked, Order } from './beyond.ts';
import { playCut } from './cut.ts';
import { type Cut, dnsAddress, giveRoute, layLink, takeRoute } from './link.ts';

export type Told = { readonly figures: readonly Figure[] } | { readonly problem: string };

/** The names of the room are resolved beyond its link, as a machine's are. */
function nameServer(): void {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-resolv-'));
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, `nameserver ${dnsAddress}\n`);
  execFileSync('mount', ['--bind', file, '/etc/resolv.conf'], { stdio: ['ignore', 'ignore', 'pipe'] });
  rmSync(folder, { recursive: true });
}

async function play(cut: Cut, length: Length): Promise<readonly Figure[]> {
  const path = fileURLToPath(new URL('beyond.ts', import.meta.url));
  const beyond = spawn('unshare', ['--net', process.execPath, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const order = async (what: Order): Promise<Asked> => (await answerOf(beyond, what)) as Asked;
  // Its namespace is there once it listens to its channel.
  await order('asked');
  layLink(beyond.pid ?? 0);
  await order('answer');
  giveRoute();
  nameServer();
  const world = await startRealWorld();
  const link = {
    farPid: beyond.pid ?? 0,
    cut: async () => (cut === 'no route' ? takeRoute() : void (await order('fall silent'))),
    mend: async () => (cut === 'no route' ? giveRoute() : void (await order('speak again'))),
    asked: () => order('asked'),
  };
  return playCut(world, { cut, link, length }).finally(() => world.stop());
}

const [, , cut, length] = process.argv;
const tell = (told: Told) => process.send?.(told, () => process.exit());
process.on('disconnect', () => process.exit());
play(cut as Cut, length as Length).then(
  (figures) => tell({ figures }),
  (error: unknown) => tell({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
);
