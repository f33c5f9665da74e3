/**
 * The store in one DynamoDB table. The adapter retries, not the client, because it needs the token to interpret a lost
 * answer.
 *
 * A write whose answer was lost is sent again with the same token. For a transaction this is exact: DynamoDB remembers
 * its token for ten minutes. A single put or update leaves its token on the item and refuses to overwrite it, which
 * identifies a repetition. If another writer has changed the item meanwhile, the outcome is `inDoubt`, and an
 * unconditional put or add may have been applied twice.
 *
 * A throttled call has certainly not been executed, so the caller is asked to pace itself (`StoreThrottled`) at the
 * first throttle: repetitions in here would only add load where there is too much of it.
 */

import { type ConsumedCapacity, type DynamoDBClient, GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Access } from '../../aws/access.ts';
import { type Clock, sleep } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';
import { lastWriteAttribute, operationKey, requireValidWrite } from '../operation.ts';
import {
  type Item,
  type Key,
  type Operation,
  type Query,
  type Store,
  StoreDenied,
  StoreThrottled,
  StoreUnavailable,
  type WriteOutcome,
} from '../store.ts';
import { type CallReport, capacityOf, counted, countedRefusal, type StoreCall } from './capacity.ts';
import { dynamodbFailureOf, type Failure, type RawRefusal, whole } from './failure.ts';
import { keyAttributes, writeCommand } from './request.ts';
import { type Attributes, unmarshalled } from './value.ts';

type Options = CallReport & {
  /** See `dynamodbClient`: without retries, and with a time-out for each request. */
  readonly client: Pick<DynamoDBClient, 'send'>;
  readonly tableName: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Remembers denials. If absent, a denied request is sent again each time. */
  readonly access?: Access;
};

/** At 1.5 s a call, a write takes at most 9 s plus pauses: less than the 12 s of a run's self-fence. */
const sendsMax = 4;
const readsMax = 2;

/** Pauses between attempts use full jitter below a bound that doubles. */
const pauseMs = 25;

/** A page holds up to 1 MB; no partition of this table has more pages than this. */
const pagesMax = 10_000;

type Write = { readonly operations: readonly Operation[]; readonly token: string };

type Sent = { readonly kind: 'applied'; readonly item: Attributes | undefined } | Failure;

export function dynamodbStore(options: Options): Store {
  return {
    get: async (key, { eventuallyConsistent = false } = {}) => {
      const item = await read(options, 'DynamoDB: get', () => getItem(options, key, eventuallyConsistent));
      return item && itemOf(item);
    },
    query: (query) => queryPages(options, query),
    write: async (operations, { token }) => {
      requireValidWrite(operations, token);
      return writeUntilKnown(options, { operations, token });
    },
  };
}

async function getItem(options: Options, key: Key, eventuallyConsistent: boolean): Promise<Attributes | undefined> {
  const { client, tableName: TableName } = options;
  const request = { TableName, Key: keyAttributes(key), ConsistentRead: !eventuallyConsistent, ...capacityOf(options) };
  const answer = await client.send(new GetItemCommand(request));
  counted(options, 'get', [answer.ConsumedCapacity]);
  return answer.Item;
}

async function queryPages(options: Options, query: Query): Promise<readonly Item[]> {
  const items: Item[] = [];
  if (selectsNothing(query)) return items;
  let next: Attributes | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const from = next;
    const limit = query.limit === undefined ? undefined : query.limit - items.length;
    const answer = await read(options, 'DynamoDB: query', () => queryPage(options, { ...query, limit }, from));
    for (const item of answer.Items) items.push(itemOf(item));
    next = answer.LastEvaluatedKey;
    if (next === undefined || (query.limit !== undefined && items.length >= query.limit)) return items;
  }
  throw new Error(`partition ${query.pk} has over ${pagesMax} pages`);
}

/** DynamoDB rejects empty bounds and a lower bound above the upper one. */
function selectsNothing({ from = '', to, limit }: Query): boolean {
  if (limit === 0 || to === '') return true;
  return to !== undefined && Buffer.compare(Buffer.from(from), Buffer.from(to)) > 0;
}

type Page = Omit<Query, 'limit'> & { readonly limit: number | undefined };

async function queryPage(options: Options, query: Page, next: Attributes | undefined) {
  const values = { ':pk': query.pk, ...(query.from && { ':from': query.from }), ...(query.to && { ':to': query.to }) };
  const range = query.from ? (query.to ? 'sk BETWEEN :from AND :to' : 'sk >= :from') : query.to && 'sk <= :to';
  const answer = await options.client.send(
    new QueryCommand({
      TableName: options.tableName,
      KeyConditionExpression: range ? `pk = :pk AND ${range}` : 'pk = :pk',
      ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, text]) => [name, { S: text }])),
      ScanIndexForward: !query.descending,
      ConsistentRead: !query.eventuallyConsistent,
      ...(query.limit !== undefined && { Limit: query.limit }),
      ...(next && { ExclusiveStartKey: next }),
      ...capacityOf(options),
    }),
  );
  counted(options, 'query', [answer.ConsumedCapacity]);
  return whole(answer, 'Items');
}

/** @throws StoreThrottled at once, StoreUnavailable after `readsMax` attempts. */
async function read<Answer>(options: Options, request: string, send: () => Promise<Answer>): Promise<Answer> {
  requireAccess(options, request);
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await send();
      options.access?.granted(request);
      return answer;
    } catch (error) {
      const failure = dynamodbFailureOf(error);
      if (failure.kind === 'denied') throw denied(options, request, error);
      if (failure.kind === 'throttled') throw throttled(error);
      const lasting = failure.kind === 'unapplied' && !failure.retry;
      if (lasting || tries === readsMax) throw unavailable(error);
    }
    await pause(options, tries);
  }
}

async function writeUntilKnown(options: Options, write: Write): Promise<WriteOutcome> {
  const request = requestName(write);
  requireAccess(options, request);
  let answerLost = false;
  for (let sends = 1; ; sends += 1) {
    const sent = await send(options, write);
    if (sent.kind !== 'denied') options.access?.granted(request);
    else if (!answerLost) throw denied(options, request, sent.cause);
    const outcome = outcomeOf(write, sent, answerLost);
    if (outcome) return outcome;
    // After a lost answer the write has to be sent again here, since only its token shows whether it was applied.
    if (sent.kind === 'throttled' && !answerLost) throw throttled(sent.cause);
    answerLost ||= sent.kind === 'ambiguous';
    const lasting = sent.kind === 'denied' || (sent.kind === 'unapplied' && !sent.retry);
    if (lasting || sends === sendsMax) return givenUp(options, write, { sent, answerLost });
    await pause(options, sends);
  }
}

async function send(options: Options, write: Write): Promise<Sent> {
  const { client, tableName } = options;
  const request = writeCommand({ ...write, tableName, capacity: capacityOf(options) });
  try {
    switch (request.kind) {
      case 'put':
        return applied(options, request.kind, await client.send(request.command));
      case 'update':
        return applied(options, request.kind, whole(await client.send(request.command), 'Attributes'));
      case 'transaction':
        return applied(options, request.kind, await client.send(request.command));
    }
  } catch (error) {
    const failure = dynamodbFailureOf(error);
    if (failure.kind === 'refused') countedRefusal(options, write.operations, { operation: request.kind, failure });
    return failure;
  }
}

type WriteAnswer = {
  readonly Attributes?: Attributes | undefined;
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined;
};

function applied(options: Options, operation: StoreCall['operation'], answer: WriteAnswer): Sent {
  counted(options, operation, [answer.ConsumedCapacity].flat());
  return { kind: 'applied', item: answer.Attributes };
}

/** Returns the certain outcome, or undefined if the write must be sent again. */
function outcomeOf(write: Write, sent: Sent, answerLost: boolean): WriteOutcome | undefined {
  switch (sent.kind) {
    case 'applied':
      return written(write, sent.item);
    case 'refused':
      return refusedOutcome(write, sent.refusals, answerLost);
    case 'throttled':
    case 'unapplied':
    case 'denied':
    case 'ambiguous':
      return undefined;
  }
}

function refusedOutcome(write: Write, refusals: readonly RawRefusal[], answerLost: boolean): WriteOutcome | undefined {
  const own = refusals.find((refusal) => refusal.kind === 'condition' && isOwn(write, refusal.item));
  if (own?.kind === 'condition') return written(write, own.item);
  if (!answerLost) return { kind: 'refused', refusals: refusals.map(plainRefusal) };
  /** The conflict may be with an earlier attempt of this same write. */
  if (refusals.some((refusal) => refusal.kind === 'conflict')) return undefined;
  const exact = writeKind(write) === 'transaction';
  return exact ? { kind: 'refused', refusals: refusals.map(plainRefusal) } : { kind: 'inDoubt' };
}

function writeKind({ operations }: Write): 'single' | 'transaction' {
  const [only] = operations;
  const single = operations.length === 1 && (only?.kind === 'put' || only?.kind === 'update');
  return single ? 'single' : 'transaction';
}

const isOwn = (write: Write, item: Attributes | undefined): boolean => item?.[lastWriteAttribute]?.S === write.token;

function written({ operations }: Write, item: Attributes | undefined): WriteOutcome {
  const isUpdate = operations.length === 1 && operations[0]?.kind === 'update';
  return { kind: 'written', ...(isUpdate && item && { item: itemOf(item) }) };
}

function plainRefusal(refusal: RawRefusal) {
  if (refusal.kind === 'conflict') return refusal;
  const { index, kind, item } = refusal;
  return { index, kind, ...(item && { item: itemOf(item) }) };
}

type Ending = { readonly sent: Sent; readonly answerLost: boolean };

async function givenUp(options: Options, write: Write, { sent, answerLost }: Ending): Promise<WriteOutcome> {
  if (answerLost) return readBack(options, write);
  throw unavailable('cause' in sent ? sent.cause : undefined);
}

/** One item with the token proves the whole write. A missing token proves nothing: the write may still arrive. */
async function readBack(options: Options, write: Write): Promise<WriteOutcome> {
  const stored = write.operations.find((operation) => operation.kind === 'put' || operation.kind === 'update');
  if (!stored) return { kind: 'inDoubt' };
  try {
    const item = await read(options, 'DynamoDB: get', () => getItem(options, operationKey(stored), false));
    return isOwn(write, item) ? written(write, item) : { kind: 'inDoubt' };
  } catch (error) {
    if (error instanceof StoreUnavailable) return { kind: 'inDoubt' };
    throw error;
  }
}

/** Names the request by what IAM checks: the operation kinds, also within a transaction. */
function requestName(write: Write): string {
  const kinds = [...new Set(write.operations.map(({ kind }) => kind))].sort().join(', ');
  return writeKind(write) === 'single' ? `DynamoDB: ${kinds}` : `DynamoDB: transaction of ${kinds}`;
}

/** @throws StoreDenied if the request was denied recently. */
function requireAccess({ access }: Options, request: string): void {
  if (access?.isDenied(request)) throw new StoreDenied(deniedMessage(request));
}

function denied({ access }: Options, request: string, cause: unknown): StoreDenied {
  access?.denied(request, cause);
  return new StoreDenied(deniedMessage(request), { cause });
}

const deniedMessage = (request: string): string => `no right for ${request}`;

const pause = ({ clock, random }: Options, tries: number): Promise<void> =>
  sleep(clock, random.next() * pauseMs * 2 ** tries);

const unavailable = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable('DynamoDB cannot be reached or refuses service', { cause });

const throttled = (cause: unknown): StoreThrottled => new StoreThrottled('DynamoDB has no capacity left', { cause });

function itemOf(attributes: Attributes): Item {
  const { [lastWriteAttribute]: _own, ...rest } = attributes;
  return unmarshalled(rest) as Item;
}
