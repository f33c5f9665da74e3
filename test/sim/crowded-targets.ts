/** More targets than a process has sockets, each probed so often that a second is enough for many of them. */
import { every, likeTargets } from './targets.ts';

const targetsPerHost = 250;

export const crowdedTargets = likeTargets(800, 'crowd', {
  hostOf: (index) => `11.0.${Math.floor(index / targetsPerHost)}.${index % targetsPerHost}`,
  // A target that hangs holds its socket for longer than its result stays fresh.
  readiness: every(10, { timeoutSeconds: 50 }),
});
