/** Targets that end: with a grace period, at once, and because the desired set does not name them. */
import assert from 'node:assert/strict';
import { exitCodes } from '../../../../functions/cli/words/exit-codes.ts';
import { pause } from '../../../support/wait.ts';
import { answered } from '../../api.ts';
import { type Cloud, pathOf, untilGone, viewOf } from '../cloud.ts';
import { names, namespace, type Shop } from './shop.ts';

const graceSeconds = 5;
/** The holder sees it within 2 s, status-sync purges it, and the API is asked for it. */
const slackMs = 12_000;

export async function terminated(cloud: Cloud): Promise<void> {
  const place = { namespace, name: 'leaving' };
  const beganMs = performance.now();
  await remove(cloud, 'leaving', graceSeconds);
  const view = await viewOf(cloud, place);
  assert.ok(view?.metadata.deletionTimestamp, 'it terminates');
  await pause(graceSeconds * 500);
  assert.ok(await viewOf(cloud, place), 'it has its grace period');
  await untilGone(cloud, place, graceSeconds * 1_000 + slackMs);
  assert.ok(performance.now() - beganMs >= graceSeconds * 1_000 - 1_000, 'it had its grace period');
}

export async function deleted({ cli }: Cloud): Promise<void> {
  const waiting = ['delete', 'target/deleted', '--timeout', `${slackMs}ms`];
  assert.equal(await cli(waiting), 'target/deleted deleted\n');
  await cli(['get', 'target', 'deleted'], exitCodes.notFound);
}

async function remove({ api }: Cloud, name: string, seconds: number): Promise<void> {
  await answered(api, 202, ['DELETE', `${pathOf(namespace, name)}?gracePeriodSeconds=${seconds}`]);
}

const wanted = names.filter((name) => !['leaving', 'deleted', 'undesired'].includes(name));

export async function desiredApplied(cloud: Cloud, { leaving }: Shop): Promise<void> {
  await desire(cloud, namespace, { kept: wanted, removed: ['undesired'] });
  await untilGone(cloud, { namespace, name: 'undesired' }, slackMs);
  await desire(cloud, namespace, { kept: wanted, removed: [] });
  await pause(pickedUpMs);
  const probed = leaving.seen.length;
  await pause(watchedMs);
  assert.equal(leaving.seen.length, probed, 'what is gone is probed no more');
}

/** Within which a holder learns of a change. */
const pickedUpMs = 2_000;
const watchedMs = 3_000;

type Change = { readonly kept: readonly string[]; readonly removed: readonly string[] };

/** Removes every other target of the namespace. */
async function desire(cloud: Cloud, of: string, { kept, removed }: Change): Promise<void> {
  const answer = await answered(cloud.api, 200, ['PUT', `/v1/namespaces/${of}/desired`, { names: kept }]);
  const applied = answer as Change;
  assert.deepEqual(applied.kept.toSorted(), kept.toSorted());
  assert.deepEqual(applied.removed.toSorted(), removed.toSorted());
}
