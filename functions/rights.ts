/**
 * What the code of each function sends to AWS. Its role is made of this (`cdk/`), so it may do this and nothing else; what the services
 * around a function do in the name of its role stands beside it. A test runs the functions against it, in both directions
 * (test/functions/rights.test.ts).
 *
 * A transaction has no right of its own: each of its operations needs that of the single operation. Source: "Using IAM with DynamoDB
 * transactions", DynamoDB Developer Guide.
 */
import type { FunctionName } from './bundling.ts';

export type TableAction =
  `dynamodb:${'ConditionCheckItem' | 'DeleteItem' | 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem'}`;

const readWrite = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'] as const;

/** On the table. `GetItem` is sent also by a function that never reads a single item: a write whose answers were lost is read back. */
export const tableActions: { readonly [name in FunctionName]: readonly TableAction[] } = {
  schedule: readWrite,
  // A commit checks the epoch of its bucket.
  prober: ['dynamodb:ConditionCheckItem', ...readWrite],
  // A purge deletes the items of a target, and checks that no report came meanwhile.
  'status-sync': ['dynamodb:ConditionCheckItem', 'dynamodb:DeleteItem', ...readWrite],
  // A report checks that its target is still there.
  api: ['dynamodb:ConditionCheckItem', ...readWrite],
};

/** On the bus: each function publishes. */
export const busActions = ['events:PutEvents'] as const;

/** On the queue of shards. */
export const shardActions = {
  schedule: ['sqs:SendMessage'],
  prober: ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage'],
} as const;

/** On the queue of a function, by its mapping. Source: "Using Lambda with Amazon SQS", execution role permissions. */
export const mappingActions = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'] as const;
