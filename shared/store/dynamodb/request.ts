/** Converts the port's operations to DynamoDB requests. */
import { createHash } from 'node:crypto';
import {
  PutItemCommand,
  type PutItemCommandInput,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { attributesOf, lastWriteAttribute } from '../operation.ts';
import type { Condition, Key, Operation } from '../store.ts';
import { conditionExpression, type Placeholders, placeholders, updateExpression } from './expression.ts';
import { marshalled } from './value.ts';

type Capacity = Pick<PutItemCommandInput, 'ReturnConsumedCapacity'>;

export type WriteRequest = {
  readonly operations: readonly Operation[];
  readonly token: string;
  readonly tableName: string;
  readonly capacity: Capacity;
};

type WriteCommand =
  | { readonly kind: 'put'; readonly command: PutItemCommand }
  | { readonly kind: 'update'; readonly command: UpdateItemCommand }
  | { readonly kind: 'transaction'; readonly command: TransactWriteItemsCommand };

/**
 * A single put or update becomes a plain conditional write, at half the price of a transaction. A single delete or
 * check leaves no token on an item, so it becomes a transaction, whose request token DynamoDB remembers.
 */
export function writeCommand(request: WriteRequest): WriteCommand {
  const [only] = request.operations;
  if (only && request.operations.length === 1) {
    if (only.kind === 'put') return { kind: 'put', command: putCommand(only, request) };
    if (only.kind === 'update') return { kind: 'update', command: updateCommand(only, request) };
  }
  return { kind: 'transaction', command: transactionCommand(request) };
}

/**
 * Adds a condition that makes a repetition fail if the first attempt succeeded, even if the caller gave no condition.
 */
const unrepeated = (operation: { readonly if?: readonly Condition[] }, token: string): readonly Condition[] => [
  ...(operation.if ?? []),
  { kind: 'notEquals', attribute: lastWriteAttribute, value: token },
];

function putCommand(operation: Operation & { readonly kind: 'put' }, request: WriteRequest): PutItemCommand {
  const guarded = { ...operation, if: unrepeated(operation, request.token) };
  return new PutItemCommand({ ...putInput(guarded, request), ...request.capacity });
}

function updateCommand(operation: Operation & { readonly kind: 'update' }, request: WriteRequest): UpdateItemCommand {
  const guarded = { ...operation, if: unrepeated(operation, request.token) };
  return new UpdateItemCommand({ ...updateInput(guarded, request), ReturnValues: 'ALL_NEW', ...request.capacity });
}

function transactionCommand(request: WriteRequest): TransactWriteItemsCommand {
  return new TransactWriteItemsCommand({
    TransactItems: request.operations.map((operation) => transactItem(operation, request)),
    ClientRequestToken: clientRequestToken(request.token),
    ...request.capacity,
  });
}

function transactItem(operation: Operation, request: WriteRequest): TransactWriteItem {
  switch (operation.kind) {
    case 'check':
      return { ConditionCheck: checkInput(operation, request) };
    case 'put':
      return { Put: putInput(operation, request) };
    case 'update':
      return { Update: updateInput(operation, request) };
    case 'delete':
      return { Delete: { ...common(operation.if, request, placeholders()), Key: keyAttributes(operation.key) } };
  }
}

/** `requireValidWrite` ensures that a check has a condition. */
function checkInput(operation: Operation & { readonly kind: 'check' }, request: WriteRequest) {
  const { ConditionExpression = '', ...rest } = common(operation.if, request, placeholders());
  return { ...rest, ConditionExpression, Key: keyAttributes(operation.key) };
}

function putInput(operation: Operation & { readonly kind: 'put' }, request: WriteRequest) {
  const { pk, sk } = operation.item;
  const Item = marshalled({ ...attributesOf(operation.item), pk, sk, [lastWriteAttribute]: request.token });
  return { ...common(operation.if, request, placeholders()), Item };
}

function updateInput(operation: Operation & { readonly kind: 'update' }, request: WriteRequest) {
  const use = placeholders();
  const set = { ...operation.set, [lastWriteAttribute]: request.token };
  const UpdateExpression = updateExpression({ ...operation, set }, use);
  return { ...common(operation.if, request, use), UpdateExpression, Key: keyAttributes(operation.key) };
}

/** The part that all requests share. It reads the placeholders last, after every expression has been written. */
function common(conditions: readonly Condition[] | undefined, request: WriteRequest, use: Placeholders) {
  const expression = conditionExpression(conditions ?? [], use);
  return {
    TableName: request.tableName,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    ...(expression && { ConditionExpression: expression }),
    ...use.maps(),
  };
}

export const keyAttributes = (key: Key) => ({ pk: { S: key.pk }, sk: { S: key.sk } });

const clientRequestTokenMax = 36;

/** Replaces a longer token by its digest; equal tokens stay equal. */
function clientRequestToken(token: string): string {
  if (token.length <= clientRequestTokenMax) return token;
  return createHash('sha256').update(token).digest('base64url').slice(0, clientRequestTokenMax);
}
