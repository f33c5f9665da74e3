/** The client for `sqsQueue` and `decodeSqsEvent`. */
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { descriptorsMax } from '../core/self/sockets.ts';

const connectionTimeoutMs = 1_500;
/**
 * Besides heartbeats and polls, the client carries the calls of exec probes (`aws-call.ts`), so it needs a socket for
 * each probe in flight.
 */
const maxSockets = descriptorsMax;

/**
 * Makes one attempt per call and sets no request time-out. The adapter does both, because a long poll may take longer
 * than a heartbeat. Calls go to the client's endpoint (`AWS_ENDPOINT_URL`), not to the one in the queue's URL.
 */
export const sqsClient = (config: Pick<SQSClientConfig, 'region' | 'endpoint' | 'credentials'> = {}): SQSClient =>
  new SQSClient({
    ...config,
    maxAttempts: 1,
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: connectionTimeoutMs, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
  });
