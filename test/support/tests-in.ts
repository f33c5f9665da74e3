/** Tests that each begin with a world of their own. */
import { test } from 'node:test';

export const testsIn =
  <World>(makeWorld: () => World | Promise<World>) =>
  (name: string, holds: (world: World) => Promise<unknown> | unknown): void =>
    void test(name, async () => void (await holds(await makeWorld())));
