/** Tests that each begin with a world of their own. */
import { type TestContext, test } from 'node:test';

export const testsIn =
  <World>(makeWorld: (t: TestContext) => World | Promise<World>) =>
  (name: string, holds: (world: World, t: TestContext) => Promise<unknown> | unknown): void =>
    void test(name, async (t) => void (await holds(await makeWorld(t), t)));
