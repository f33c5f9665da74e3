/** The client that `sqsQueue` and `decodeSqsEvent` expect. */
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { descriptorsMax } from '../core/room.ts';

const connectionTimeoutMs = 1_500;
/** Beside heartbeats and polls, the calls of exec probes go through it (`aws-call.ts`): as many as there may be in flight. */
const maxSockets = descriptorsMax;

/** One attempt a call, and no limit of its own: both are the adapter's, whose long polls take longer than its heartbeats may. */
export const sqsClient = (config: Pick<SQSClientConfig, 'region' | 'endpoint' | 'credentials'> = {}): SQSClient =>
  new SQSClient({
    ...config,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: connectionTimeoutMs, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
  });
