/** The entry point of the schedule function, which runs every minute. */
import { sqsQueue } from '../../shared/queue/sqs.ts';
import { sqsClient } from '../../shared/queue/sqs-client.ts';
import { readEnvironment } from '../lambda/environment.ts';
import { functionPorts } from '../lambda/ports.ts';
import { scheduleFunction } from './schedule.ts';

const { table, bus, stage, shardQueueUrl, release, mode, capacityMb } = readEnvironment([
  ...(['table', 'bus', 'stage', 'shardQueueUrl', 'release', 'mode', 'capacityMb'] as const),
]);
const ports = functionPorts('schedule', { table, bus, stage });
const { clock, random, access } = ports;

export const handler = scheduleFunction({
  ...ports,
  queue: sqsQueue({ client: sqsClient(), queueUrl: shardQueueUrl, clock, random, access }),
  release,
  mode,
  capacityMb,
});
