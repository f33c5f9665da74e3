import type { BusEvent } from '../../shared/bus/events.ts';
import type { Chance } from './chance.ts';
import { worldStartMs } from './clock.ts';
import { namespace, type ScriptedTarget } from './targets.ts';

/** An event that the product did not publish: its target may not exist, its result is invented. */
export function forgedEvent(chance: Chance, targets: readonly ScriptedTarget[], nowMs: number): BusEvent {
  const named = chance.happens(0.8) ? chance.pick(targets) : { namespace, name: 'nobody' };
  const target = { namespace: named.namespace, name: named.name, uid: chance.random().uuid() };
  const id = `forged/${nowMs}`;
  const timeMs = worldStartMs + nowMs;
  if (chance.happens(0.5))
    return { detailType: 'Target Sync Requested', timeMs, detail: { schemaVersion: 1, id, target, reason: 'forged' } };
  return {
    detailType: 'Probe Result Changed',
    timeMs,
    detail: {
      schemaVersion: 1,
      id,
      target,
      container: 'c0',
      containerID: `probelet://${target.uid}/c0/0`,
      probeType: chance.pick(['liveness', 'readiness', 'startup'] as const),
      result: chance.pick(['success', 'failure'] as const),
      version: chance.between(0, 1_000),
      output: 'forged',
      attempts: [],
    },
  };
}
