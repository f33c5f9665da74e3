/** The client that `dynamodbStore` expects. */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** A heartbeat comes every 5 s and may have to be tried again. */
const requestTimeoutMsDefault = 1500;

type Options = Pick<DynamoDBClientConfig, 'region' | 'endpoint' | 'credentials'> & {
  /** Of one request, from its start to the head of the answer. */
  readonly requestTimeoutMs?: number;
};

/** One attempt a call: the SDK's retry would take the refusal of a write's repetition for somebody else's change. */
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
