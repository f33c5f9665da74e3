/** The client that `sqsQueue` and `decodeSqsEvent` expect. */
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

const connectionTimeoutMs = 1_500;

/** One attempt a call, and no limit of its own: both are the adapter's, whose long polls take longer than its heartbeats may. */
export const sqsClient = (config: Pick<SQSClientConfig, 'region' | 'endpoint' | 'credentials'> = {}): SQSClient =>
  new SQSClient({ ...config, maxAttempts: 1, requestHandler: { connectionTimeout: connectionTimeoutMs } });
