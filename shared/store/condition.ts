/**
 * Evaluates conditions on an item in memory, as DynamoDB does on the server, for adapters without server-side
 * conditions.
 */

import { ownProperty } from '../lib/own-property.ts';
import type { Condition } from './store.ts';

/** The stored attributes, or undefined if there is no item. */
type Stored = { readonly [attribute: string]: unknown } | undefined;

const own = (stored: Stored, attribute: string): unknown => stored && ownProperty(stored, attribute);

export const conditionsHold = (conditions: readonly Condition[] | undefined, stored: Stored): boolean =>
  (conditions ?? []).every((condition) => conditionHolds(condition, stored));

function conditionHolds(condition: Condition, stored: Stored): boolean {
  switch (condition.kind) {
    case 'exists':
      return stored !== undefined;
    case 'notExists':
      return stored === undefined;
    case 'equals':
      return own(stored, condition.attribute) === condition.value;
    case 'notEquals':
      return own(stored, condition.attribute) !== condition.value;
    case 'lessThan': {
      const value = own(stored, condition.attribute);
      return typeof value === 'number' && value < condition.value;
    }
    case 'absent':
      return own(stored, condition.attribute) === undefined;
    case 'anyOf':
      return condition.conditions.some((inner) => conditionHolds(inner, stored));
  }
}
