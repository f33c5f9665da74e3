/** Converts plain JSON to DynamoDB attribute values and back. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { definedOf } from '../operation.ts';

export type Attributes = Record<string, AttributeValue>;

export function marshalled(attributes: { readonly [attribute: string]: unknown }): Attributes {
  const entries = Object.entries(definedOf(attributes));
  return Object.fromEntries(entries.map(([name, value]) => [name, marshalledValue(value)]));
}

export function marshalledValue(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.map(marshalledValue) };
  if (typeof value === 'object') return { M: marshalled({ ...value }) };
  throw new TypeError(`a ${typeof value} cannot be stored`);
}

export function unmarshalled(attributes: Attributes): { [attribute: string]: unknown } {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, unmarshalledValue(value)]));
}

/**
 * Types that probelet never writes (sets, binary) become null, so that the decoder quarantines only the affected item.
 */
function unmarshalledValue(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.L !== undefined) return value.L.map(unmarshalledValue);
  return value.M === undefined ? null : unmarshalled(value.M);
}
