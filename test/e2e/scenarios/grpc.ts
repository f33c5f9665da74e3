import assert from 'node:assert/strict';
import { startGrpcServer } from '../../support/grpc-server.ts';
import { closedPort } from '../apps.ts';
import { neverRestarted, type Place, restartCount, type Scenario } from '../stage.ts';

const observedMs = 240_000;

export const grpcScenarios = (place: Place): readonly Scenario[] => [
  {
    name: 'liveness by gRPC that serves: never restarted',
    async run(stage) {
      const server = await stage.use(startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' } }));
      await stage.register(place, {
        livenessProbe: { grpc: { port: server.port }, initialDelaySeconds: 15, timeoutSeconds: 5, failureThreshold: 1 },
      });
      await stage.during('not restarted', observedMs, neverRestarted);
      assert.ok(server.seen.length > 0, 'it was not even probed');
    },
  },
  {
    name: 'liveness by gRPC at a wrong port: restarted',
    async run(stage) {
      const { port } = await stage.use(closedPort(stage.world));
      await stage.register(place, {
        livenessProbe: { grpc: { port }, initialDelaySeconds: 60, timeoutSeconds: 5, failureThreshold: 1 },
      });
      await stage.until('restarted', observedMs, (view) => restartCount(view) >= 1);
    },
  },
];
