/**
 * The emulator bills each read as one item of at most 4 KB, and a condition check not at all. A proxy in front of its
 * tables puts into each answer what AWS would bill, so that the store adapter counts what a deployment pays.
 */

import { writeUnits } from '../../../shared/store/dynamodb/capacity.ts';
import { type Attributes, unmarshalled } from '../../../shared/store/dynamodb/value.ts';
import { itemBytes } from '../../../shared/store/item-size.ts';
import type { Answer, ProxiedCall } from '../../support/fault-proxy.ts';
import { signedBy } from '../../support/iam.ts';
import { readUnits } from '../../support/unit-counter.ts';

type Output = {
  readonly Item?: Attributes;
  readonly Items?: readonly Attributes[];
  readonly ConsumedCapacity?: Consumed | readonly Consumed[];
};

type Consumed = { readonly CapacityUnits: number };

type Input = {
  readonly ConsistentRead?: boolean;
  readonly TransactItems?: readonly { readonly ConditionCheck?: unknown }[];
};

export function billed(call: ProxiedCall, answer: Answer): Answer {
  const { operation, body } = call;
  if (answer.status !== 200 || signedBy(call).service !== 'dynamodb') return answer;
  const output: Output = JSON.parse(answer.body);
  if (output.ConsumedCapacity === undefined) return answer;
  const ConsumedCapacity = consumed(operation, JSON.parse(body), output);
  return { ...answer, body: JSON.stringify({ ...output, ConsumedCapacity }) };
}

function consumed(operation: string, input: Input, output: Output): Output['ConsumedCapacity'] {
  switch (operation) {
    case 'GetItem':
      return { CapacityUnits: unitsOf(output.Item ? [output.Item] : [], input) };
    case 'Query':
      return { CapacityUnits: unitsOf(output.Items ?? [], input) };
    case 'TransactWriteItems':
      return [...[output.ConsumedCapacity ?? []].flat(), { CapacityUnits: checks(input) * writeUnits(0, true) }];
    default:
      return output.ConsumedCapacity;
  }
}

const unitsOf = (items: readonly Attributes[], { ConsistentRead = false }: Input): number =>
  readUnits(
    items.reduce((bytes, item) => bytes + itemBytes(unmarshalled(item)), 0),
    !ConsistentRead,
  );

const checks = ({ TransactItems = [] }: Input): number =>
  TransactItems.filter(({ ConditionCheck }) => ConditionCheck !== undefined).length;
