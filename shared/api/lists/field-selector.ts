/**
 * Kubernetes field selectors: `metadata.name=a,spec.host!=b`, with `\` before a comma, an equals sign or itself in a
 * value. Read as Kubernetes reads them, in one pass. Source: apimachinery, pkg/fields/selector.go.
 */
import { ownProperty } from '../../lib/own-property.ts';
import type { StoredTarget } from '../targets/stored-target.ts';

export type FieldSelector = (stored: StoredTarget) => boolean;

export type ParsedFieldSelector =
  | { readonly kind: 'selector'; readonly matches: FieldSelector }
  | { readonly kind: 'invalid'; readonly reason: string };

/** Each field's text as the API shows it. */
const fields: { readonly [field: string]: (stored: StoredTarget) => string } = {
  'metadata.name': ({ target }) => target.name,
  'metadata.namespace': ({ target }) => target.namespace,
  'spec.host': ({ target }) => target.spec.host,
  'spec.lifecycle': ({ target }) => target.spec.lifecycle,
  'status.phase': ({ status }) => status?.status.phase ?? 'Unknown',
};

export const selectableFields: readonly string[] = Object.keys(fields);

/** The empty selector matches everything. */
export function parseFieldSelector(text: string): ParsedFieldSelector {
  const terms = splitTerms(text).filter((term) => term !== '');
  const parsed = terms.map(parseTerm);
  const refused = parsed.find((each) => each.kind === 'invalid');
  if (refused) return refused;
  return {
    kind: 'selector',
    matches: (stored) => parsed.every((each) => each.kind === 'selector' && each.matches(stored)),
  };
}

/** Splits at each comma that has no `\` before it. */
function splitTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let term = '';
  let isEscaped = false;
  for (const character of text) {
    if (character === ',' && !isEscaped) {
      terms.push(term);
      term = '';
    } else term += character;
    isEscaped = character === '\\' && !isEscaped;
  }
  return [...terms, term];
}

const invalid = (reason: string) => ({ kind: 'invalid', reason }) as const;

function parseTerm(term: string): ParsedFieldSelector {
  const equals = term.indexOf('=');
  if (equals < 0) return invalid(`${JSON.stringify(term)} must be a field, then =, == or !=, then a value`);
  const isNegated = term[equals - 1] === '!';
  const field = term.slice(0, isNegated ? equals - 1 : equals);
  const read = ownProperty(fields, field);
  if (!read)
    return invalid(`${JSON.stringify(field)} is no field to select by; those are ${selectableFields.join(', ')}`);
  const isDouble = !isNegated && term[equals + 1] === '=';
  const value = unescaped(term.slice(equals + (isDouble ? 2 : 1)));
  if (value === undefined) return invalid(`the value of ${field} must have \\ before each comma, equals sign and \\`);
  return { kind: 'selector', matches: (stored) => (read(stored) === value) !== isNegated };
}

/** undefined: a `\` before any other character, or an equals sign without one. */
function unescaped(value: string): string | undefined {
  let text = '';
  let isEscaped = false;
  for (const character of value) {
    const isSpecial = character === '\\' || character === '=' || character === ',';
    if (isEscaped ? !isSpecial : character === '=') return undefined;
    isEscaped = character === '\\' && !isEscaped;
    if (!isEscaped) text += character;
  }
  return isEscaped ? undefined : text;
}
