/** The ports that all functions share, on the deployment's table and bus. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { type Access, access } from '../../shared/aws/access.ts';
import type { Bus } from '../../shared/bus/bus.ts';
import { eventBridgeBus } from '../../shared/bus/eventbridge.ts';
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import { type Random, systemRandom } from '../../shared/lib/random.ts';
import { dynamodbClient } from '../../shared/store/dynamodb/client.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import type { Store } from '../../shared/store/store.ts';
import { patientStore } from '../../shared/store/throttled.ts';
import type { FunctionName } from '../bundling.ts';
import type { Environment } from './environment.ts';
import { type FunctionLog, functionLog } from './log.ts';
import { type FunctionMetrics, functionMetrics } from './metrics.ts';

export type FunctionPorts = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: FunctionLog;
  readonly metrics: FunctionMetrics;
  readonly store: Store;
  readonly bus: Bus;
};

export type NewStore = {
  /** Opens the same table through separate sockets. A throttled call is not repeated. */
  readonly newStore: () => Store;
};

/** The settings that every function reads. */
export const commonSettings = ['table', 'bus', 'stage', 'detailedMetrics'] as const;

type CommonEnvironment = Pick<Environment, (typeof commonSettings)[number]>;

/** The SDK determines region, credentials and endpoints. */
export function functionPorts(
  service: FunctionName,
  { table, bus: busName, stage, detailedMetrics: detailed }: CommonEnvironment,
): FunctionPorts & NewStore & { readonly access: Access } {
  const [clock, random] = [systemClock, systemRandom];
  const log = functionLog({ service, nowMs: clock.nowMs });
  const metrics = functionMetrics({ service, stage, detailed, clock });
  const own = access({ clock, log, onDenied: metrics.onDenied });
  const ports = { clock, random, log, access: own };
  const newStore = () =>
    dynamodbStore({ ...ports, client: dynamodbClient(), tableName: table, onCall: metrics.onCall });
  // The adapter retries, so the client must not.
  const bus = eventBridgeBus({ ...ports, client: new EventBridgeClient({ maxAttempts: 1 }), busName });
  return { ...ports, metrics, store: patientStore(newStore(), ports), newStore, bus };
}
