import assert from 'node:assert/strict';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { ContainerInput, ProbeInput } from '../../../shared/core/spec/spec-input.ts';
import { targetPath } from '../../support/api-client.ts';
import { startGrpcServer } from '../../support/grpc-server.ts';
import { answered, register } from '../api.ts';
import { livenessApp } from '../apps.ts';
import { succeeds } from '../commands.ts';
import { runContainers } from '../container-runtime.ts';
import { namespace, type Scenario, type Stage } from '../stage.ts';

const containersPerKind = 10;
const observedMs = 120_000;

/** kubelet's own numbers: a probe a second of the time-out and the threshold that a spec has when it says nothing. */
export const manyScenario: Scenario = {
  name: '30 probes at 1 s: for two minutes not one spurious restart',
  async run(stage) {
    const names = await registerAll(stage);
    const endMs = stage.world.clock.monotonicMs() + observedMs;
    while (stage.world.clock.monotonicMs() < endMs) {
      assert.deepEqual(await restartedOf(stage, names), []);
      await stage.sleep(5_000);
    }
    for (const name of names) await stage.world.api('DELETE', `${pathOf(name)}?gracePeriodSeconds=0`);
  },
};

async function registerAll(stage: Stage): Promise<readonly string[]> {
  const app = await stage.use(livenessApp(stage.world));
  const grpc = await stage.use(startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' } }));
  const handlers: readonly ProbeInput[] = [
    { httpGet: { path: '/', port: app.port } },
    { tcpSocket: { port: app.port } },
    { grpc: { port: grpc.port } },
  ];
  const names: string[] = [];
  for (const [kind, handler] of handlers.entries()) {
    for (let at = 0; at < containersPerKind; at += 1) {
      // One of them runs a command: ten more processes a second would test the machine.
      const probe = kind === 1 && at === 0 ? { exec: { command: succeeds } } : handler;
      const name = `${stage.name}-${kind}-${at}`;
      await registerOne(stage, name, { ...probe, periodSeconds: 1 });
      names.push(name);
    }
  }
  return names;
}

async function registerOne(stage: Stage, name: string, livenessProbe: ProbeInput): Promise<void> {
  const containers: readonly ContainerInput[] = [{ name: 'probed', livenessProbe }];
  await register(stage.world.api, pathOf(name), { lifecycle: 'reported', containers });
  await stage.use(runContainers(stage.world, { target: pathOf(name), containers: ['probed'] }));
}

const pathOf = (name: string): string => targetPath(name, namespace);

async function restartedOf(stage: Stage, names: readonly string[]): Promise<readonly string[]> {
  const restarted: string[] = [];
  for (const name of names) {
    const { metadata, status } = (await answered(stage.world.api, 200, ['GET', pathOf(name)])) as TargetView;
    if (metadata.name !== name || status.containerStatuses[0]?.restartCount !== 0) restarted.push(name);
  }
  return restarted;
}
