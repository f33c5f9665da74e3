/** The client for `dynamodbStore`. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** A heartbeat is due every 5 s and may need a retry. */
const requestTimeoutMsDefault = 1500;

type Options = Pick<DynamoDBClientConfig, 'region' | 'endpoint' | 'credentials'> & {
  /** For one request, from its start to the response headers. */
  readonly requestTimeoutMs?: number;
};

/**
 * Makes one attempt per call. If the SDK repeated a write whose answer was lost, the refusal of the repetition would
 * look like another writer's change.
 */
export function dynamodbClient({
  requestTimeoutMs = requestTimeoutMsDefault,
  ...config
}: Options = {}): DynamoDBClient {
  return new DynamoDBClient({
    ...config,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      socketTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
  });
}
