/** A target that is changed while it is probed, and one that is probed by hand. */
import assert from 'node:assert/strict';
import { pause, until } from '../../../support/wait.ts';
import { answered } from '../../api.ts';
import { type Cloud, pathOf, untilReady, viewOf } from '../cloud.ts';
import { container, namespace, type Shop } from './shop.ts';

const pickedUpMs = 10_000;
const watchedMs = 3_000;
/** What the docs promise, and the way to the emulator and back. */
const triggeredMs = 4_000;

/** The next probe asks for the new path, and nothing has been restarted for it. */
export async function updatedInPlace(cloud: Cloud, { web }: Shop): Promise<void> {
  const place = { namespace, name: 'web' };
  const before = await viewOf(cloud, place);
  await answered(cloud.api, 200, ['PATCH', pathOf(namespace, 'web'), { spec: container(web.port, '/other') }]);
  const asked = (path: string) => web.seen.filter((one) => one.path === path).length;
  await until('the new path is probed', pickedUpMs, () => asked('/other') > 0);
  const old = asked('/ready');
  await pause(watchedMs);
  assert.equal(asked('/ready'), old, 'the old path is probed no more');
  const after = await untilReady(cloud, place, 'True', pickedUpMs);
  const identity = (view: typeof before) => view?.status.containerStatuses.map(({ containerID }) => containerID);
  assert.deepEqual(identity(after), identity(before));
  assert.equal(after.metadata.generation, (before?.metadata.generation ?? 0) + 1);
}

export async function triggeredByHand({ api }: Cloud, { rare }: Shop): Promise<void> {
  const before = rare.seen.length;
  await answered(api, 202, ['POST', `${pathOf(namespace, 'rare')}/probe`]);
  await until('a target of an hour’s period is probed', triggeredMs, () => rare.seen.length > before);
  await pause(watchedMs);
  assert.equal(rare.seen.length, before + 1, 'probed once');
}
