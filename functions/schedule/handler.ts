/** The entry point of the schedule function, which runs every minute. */
import { sqsQueue } from '../../shared/queue/sqs.ts';
import { sqsClient } from '../../shared/queue/sqs-call.ts';
import { readEnvironment } from '../lambda/environment.ts';
import { commonSettings, functionPorts } from '../lambda/ports.ts';
import { scheduleFunction } from './schedule.ts';

const { shardQueueUrl, release, mode, capacityMb, ...common } = readEnvironment([
  ...commonSettings,
  ...(['shardQueueUrl', 'release', 'mode', 'capacityMb'] as const),
]);
const ports = functionPorts('schedule', common);
const { clock, random, access } = ports;

export const handler = scheduleFunction({
  ...ports,
  queue: sqsQueue({ client: sqsClient(), queueUrl: shardQueueUrl, clock, random, access }),
  release,
  mode,
  capacityMb,
});
