/** More targets than a process has sockets, each probed so often that a second is enough for many of them. */
import { container, every, namespace, type ScriptedTarget } from './targets.ts';

const count = 800;
const targetsPerHost = 250;
/** A target that hangs holds its socket for longer than the staleness of its result. */
const timeoutSeconds = 50;

const hostOf = (index: number): string => `11.0.${Math.floor(index / targetsPerHost)}.${index % targetsPerHost}`;

export const crowdedTargets: readonly ScriptedTarget[] = Array.from({ length: count }, (_, index) => ({
  name: `crowd-${index}`,
  namespace,
  index,
  lifecycle: 'static',
  fate: 'stays',
  spec: () => ({
    host: hostOf(index),
    lifecycle: 'static',
    containers: [container(0, { readiness: every(10, { timeoutSeconds, failureThreshold: 1 }) })],
  }),
}));
