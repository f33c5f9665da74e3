/** Kills `npm start` at random points while targets fail and recover, and counts what a receiver learned. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../../shared/lib/random.ts';
import { endProduct, spawnProduct, startProduct } from '../../local/product.ts';
import type { Tally } from '../../support/tally.ts';
import { pause, until } from '../../support/wait.ts';
import { type Arrival, secretBytes, startServices } from './services.ts';
import { decidedTargets } from './targets.ts';

const program = new URL('../../../functions/local/start.mjs', import.meta.url).pathname;
/** Kills between two changes of the targets. */
const killsPerChange = 20;
const names = ['a', 'b', 'c', 'd', 'e'];
/** The life of a process after its API listens. */
const aliveMsMax = 1_200;
const answerMsMax = 300;
const patience = { withinMs: 60_000, pollMs: 100 };

export type KillOptions = { readonly kills: number; readonly random: Random };

export async function judgeKills({ kills, random }: KillOptions, verdict: Tally['verdict']): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-kills-'));
  // Some answers come late, so that a kill may come between a delivery and the knowledge of it.
  const services = await startServices({
    webhook: (response) => Boolean(setTimeout(() => response.end(), random.next() * answerMsMax)),
  });
  const targets = await decidedTargets();
  const args = ['--port', '0', '--data-dir', join(folder, 'data'), '--config', written(folder, services.url)];
  writeFileSync(
    join(folder, 'targets.yaml'),
    targets.manifests(Object.fromEntries(names.map((name) => [name, { app: name }]))),
  );
  const startedMs = performance.now();
  await (await startProduct(args, { program })).stop();
  const startMs = performance.now() - startedMs;
  let killed = 0;
  const killOften = async () => {
    for (let kill = 0; kill < killsPerChange && killed < kills; kill += 1) {
      const child = spawnProduct(args, { program }, 'ignore');
      await pause(startMs * 0.3 + random.next() * (startMs * 0.7 + aliveMsMax));
      await endProduct(child, 'SIGKILL');
      killed += 1;
    }
  };
  try {
    let seen = 0;
    for (let episode = 1; killed < kills; episode += 1) {
      for (const kind of ['firing', 'resolved']) {
        targets.isUp = kind === 'resolved';
        await killOften();
        const product = await startProduct(args, { program });
        const reported = () =>
          new Set(
            services.arrived
              .slice(seen)
              .filter((each) => each.kind === kind)
              .flatMap((each) => each.names),
          );
        const found = await until('', patience, () => reported().size === names.length).catch(() => false);
        verdict(`episode ${episode}, ${killed} kills: ${kind} of each target is reported`, found === true);
        await product.stop();
      }
      seen = services.arrived.length;
    }
    judgeArrivals(services.arrived, killed, verdict);
    verdict('every body was signed and whole', services.faults);
  } finally {
    await Promise.all([services.close(), targets.close()]);
    rmSync(folder, { recursive: true });
  }
}

function judgeArrivals(arrived: readonly Arrival[], kills: number, verdict: Tally['verdict']): void {
  const byId = [...Map.groupBy(arrived, ({ id }) => id).values()];
  const repeated = byId.filter((all) => all.length > 1).length;
  const batches = [...Map.groupBy(arrived, ({ id }) => id.split('-')[0] ?? '')];
  verdict(
    `${kills} kills, ${batches.length} incidents, ${byId.length} notifications, ${repeated} of them more than once: each incident has one beginning and one end`,
    batches.flatMap(([batch, all]) =>
      ['firing', 'resolved'].flatMap((kind) => {
        const ids = new Set(all.filter((each) => each.kind === kind).map(({ id }) => id));
        return ids.size === 1 ? [] : [`${batch}: ${kind} ${[...ids].join(', ') || 'never'}`];
      }),
    ),
  );
  verdict(
    'each end comes behind its beginning',
    batches.filter(([, all]) => all[0]?.kind !== 'firing').map(([batch]) => batch),
  );
}

function written(folder: string, url: string): string {
  writeFileSync(join(folder, 'secret'), `whsec_${secretBytes.toString('base64')}`);
  const receiver = { name: 'r', webhook: { url: `${url}/webhook`, secret: { file: join(folder, 'secret') } } };
  const config = {
    targets: ['targets.yaml'],
    alerts: [{ name: 'down', groupBy: ['app'], notify: ['r'] }],
    receivers: [receiver],
  };
  writeFileSync(join(folder, 'probelet.json'), JSON.stringify(config));
  return join(folder, 'probelet.json');
}
