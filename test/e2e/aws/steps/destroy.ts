/** Everything is removed by `cdk destroy`, while it works. */
import assert from 'node:assert/strict';
import { type Cloud, functionParts, probeletApp, subscriberApp } from '../cloud.ts';
import { until } from '../wait.ts';
import { inventory, requireAll, requireNone } from './inventory.ts';

const endedMs = 10_000;

export async function destroyed(cloud: Cloud): Promise<void> {
  const { send, cdk, emulator, bus, inbox } = cloud;
  const look = () => inventory(send, emulator.endpoint, bus);
  requireAll(await look());
  const pid = emulator.pid(functionParts.prober);
  assert.ok(isRunning(pid), 'the prober runs');
  await inbox.stop();
  await cdk.destroy(subscriberApp(bus));
  await cdk.destroy(probeletApp());
  requireNone(await look());
  await until('the prober’s process has ended', endedMs, () => !isRunning(pid));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
