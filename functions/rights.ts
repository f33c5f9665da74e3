/**
 * The AWS actions that each function's code performs. `cdk/` builds the roles from them, so a function may perform
 * these actions and no others, except those that AWS services perform with its role, which are listed separately. A
 * test checks that the functions use exactly these actions (test/functions/rights.long.ts).
 *
 * IAM has no action for transactions: each operation in one needs the permission for the single operation. Source:
 * "Using IAM with DynamoDB transactions", DynamoDB Developer Guide.
 */
import type { FunctionName } from './bundling.ts';

export type TableAction =
  `dynamodb:${'ConditionCheckItem' | 'DeleteItem' | 'GetItem' | 'PutItem' | 'Query' | 'UpdateItem'}`;

const readWrite = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem'] as const;

/** Actions on the table. Every function needs `GetItem`, because a write whose answer was lost is read back. */
export const tableActions: { readonly [name in FunctionName]: readonly TableAction[] } = {
  schedule: readWrite,
  // A commit checks its bucket's epoch.
  prober: ['dynamodb:ConditionCheckItem', ...readWrite],
  // A purge deletes a target's items and checks that no report has arrived meanwhile.
  'status-sync': ['dynamodb:ConditionCheckItem', 'dynamodb:DeleteItem', ...readWrite],
  // A report checks that its target still exists.
  api: ['dynamodb:ConditionCheckItem', ...readWrite],
};

/** Actions on the bus. Every function publishes events. */
export const busActions = ['events:PutEvents'] as const;

/** Actions on the shard queue. */
export const shardActions = {
  schedule: ['sqs:SendMessage'],
  // It asks another process for its look.
  prober: ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:SendMessage'],
} as const;

/**
 * Actions of an event source mapping on the function's queue. Source: "Using Lambda with Amazon SQS", execution role
 * permissions.
 */
export const mappingActions = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'] as const;

/** What a task does on the shard queue itself, as the mapping does for the function. */
export const receiveActions = ['sqs:ReceiveMessage'] as const;
