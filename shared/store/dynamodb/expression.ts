/**
 * Conditions and updates as DynamoDB expressions. Every name is a placeholder, because DynamoDB reserves 573 words,
 * `name` and `status` among them.
 */

import { definedOf } from '../operation.ts';
import type { Condition, Operation } from '../store.ts';
import { type Attributes, marshalledValue } from './value.ts';

/** Collects the placeholders of one request. */
export type Placeholders = {
  name(attribute: string): string;
  value(value: unknown): string;
  /** The request's maps. An empty map is left out, because DynamoDB rejects it. */
  maps(): { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Attributes };
};

export function placeholders(): Placeholders {
  const names = new Map<string, string>();
  const values: Attributes = {};
  return {
    name: (attribute) => {
      const known = names.get(attribute);
      if (known !== undefined) return known;
      const placeholder = `#n${names.size}`;
      names.set(attribute, placeholder);
      return placeholder;
    },
    value: (value) => {
      const placeholder = `:v${Object.keys(values).length}`;
      values[placeholder] = marshalledValue(value);
      return placeholder;
    },
    maps: () => ({
      ...(names.size > 0 && {
        ExpressionAttributeNames: Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name])),
      }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  };
}

export const conditionExpression = (conditions: readonly Condition[], use: Placeholders): string =>
  conditions.map((condition) => conditionText(condition, use)).join(' AND ');

/**
 * Every `<>` comes with a test for absence, so that the rule does not depend on how DynamoDB compares an absent
 * attribute.
 */
function conditionText(condition: Condition, use: Placeholders): string {
  switch (condition.kind) {
    case 'exists':
      return `attribute_exists(${use.name('pk')})`;
    case 'notExists':
      return `attribute_not_exists(${use.name('pk')})`;
    case 'equals':
      return `${use.name(condition.attribute)} = ${use.value(condition.value)}`;
    case 'notEquals':
      return differs(condition.attribute, condition.value, use);
    case 'lessThan':
      return `${use.name(condition.attribute)} < ${use.value(condition.value)}`;
    case 'absent':
      return `attribute_not_exists(${use.name(condition.attribute)})`;
    case 'anyOf':
      return `(${condition.conditions.map((inner) => conditionText(inner, use)).join(' OR ')})`;
  }
}

function differs(attribute: string, value: unknown, use: Placeholders): string {
  const name = use.name(attribute);
  return `(attribute_not_exists(${name}) OR ${name} <> ${use.value(value)})`;
}

export function updateExpression(
  update: Omit<Operation & { readonly kind: 'update' }, 'if' | 'key' | 'kind'>,
  use: Placeholders,
): string {
  const set = Object.entries(definedOf(update.set ?? {})).map(([name, to]) => `${use.name(name)} = ${use.value(to)}`);
  const add = Object.entries(update.add ?? {}).map(([name, amount]) => `${use.name(name)} ${use.value(amount)}`);
  const remove = (update.remove ?? []).map((name) => use.name(name));
  const clauses = [
    ['SET', set],
    ['ADD', add],
    ['REMOVE', remove],
  ] as const;
  return clauses.flatMap(([verb, parts]) => (parts.length > 0 ? [`${verb} ${parts.join(', ')}`] : [])).join(' ');
}
