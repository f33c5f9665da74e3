/**
 * Kubernetes label selectors, equality- and set-based: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Read as Kubernetes reads
 * them, in one pass. Source: apimachinery, pkg/labels/selector.go.
 */
import { isLabelValue, isQualifiedName } from '../../core/spec/names.ts';

export type Labels = { readonly [key: string]: string };

export type LabelSelector = (labels: Labels) => boolean;

export type ParsedSelector =
  | { readonly kind: 'selector'; readonly matches: LabelSelector }
  | { readonly kind: 'invalid'; readonly reason: string };

/** The empty selector matches everything. */
export function parseLabelSelector(text: string): ParsedSelector {
  try {
    const requirements = readRequirements(tokensOf(text));
    return { kind: 'selector', matches: (labels) => requirements.every((matches) => matches(labels)) };
  } catch (error) {
    if (error instanceof Refused) return { kind: 'invalid', reason: error.message };
    throw error;
  }
}

class Refused extends Error {}

/** `word`: a key, a value, `in` or `notin`; the other kinds are literal. */
type Token = { readonly kind: 'word' | '=' | '==' | '!=' | '!' | '(' | ')' | ',' | 'end'; readonly text: string };

const token = /[ \t\r\n]*(?:(==|!=|[=!(),])|([^ \t\r\n=!(),<>]+))/y;

function tokensOf(text: string): Tokens {
  let at = 0;
  const read = (): Token => {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null) {
      const unsupported = /[<>]/.exec(text.slice(at));
      if (unsupported) throw new Refused(`${unsupported[0]} is not supported`);
      return { kind: 'end', text: '' };
    }
    at = token.lastIndex;
    const [, symbol, word = ''] = found;
    return symbol === undefined ? { kind: 'word', text: word } : { kind: symbol as Token['kind'], text: symbol };
  };
  let ahead = read();
  return {
    peek: () => ahead,
    next: () => {
      const taken = ahead;
      if (taken.kind !== 'end') ahead = read();
      return taken;
    },
  };
}

type Tokens = { readonly peek: () => Token; readonly next: () => Token };

function readRequirements(tokens: Tokens): readonly LabelSelector[] {
  const requirements: LabelSelector[] = [];
  for (let begins = tokens.peek().kind !== 'end'; begins; ) {
    requirements.push(readRequirement(tokens));
    const { kind, text } = tokens.next();
    if (kind !== ',' && kind !== 'end') throw expected('"," or the end', text);
    begins = kind === ',';
  }
  return requirements;
}

const expected = (what: string, found: string) =>
  new Refused(`expected ${what}, found ${found === '' ? 'the end' : JSON.stringify(found)}`);

function readRequirement(tokens: Tokens): LabelSelector {
  const isNegated = tokens.peek().kind === '!' && tokens.next().kind === '!';
  const { kind, text: key } = tokens.next();
  if (kind !== 'word') throw expected('a label key', key);
  if (!isQualifiedName(key)) throw new Refused(`${JSON.stringify(key)} is no label key`);
  const isOver = tokens.peek().kind === 'end' || tokens.peek().kind === ',';
  if (isNegated || isOver) return (labels) => Object.hasOwn(labels, key) !== isNegated;
  return readComparison(tokens, key);
}

/** `notin` and `!=` match also where the label is absent, as in Kubernetes. */
function readComparison(tokens: Tokens, key: string): LabelSelector {
  const { text: operator } = tokens.next();
  const isSet = operator === 'in' || operator === 'notin';
  if (!isSet && !['=', '==', '!='].includes(operator)) throw expected('=, ==, !=, in or notin', operator);
  const values = isSet ? readValues(tokens) : new Set([readValue(tokens)]);
  for (const value of values) if (!isLabelValue(value)) throw new Refused(`${JSON.stringify(value)} is no label value`);
  const isWanted = operator !== 'notin' && operator !== '!=';
  return (labels) => (Object.hasOwn(labels, key) && values.has(labels[key] ?? '')) === isWanted;
}

/** A missing value counts as empty. */
function readValue(tokens: Tokens): string {
  const { kind } = tokens.peek();
  if (kind === 'end' || kind === ',') return '';
  const { text } = tokens.next();
  if (kind !== 'word') throw expected('a label value', text);
  return text;
}

function readValues(tokens: Tokens): ReadonlySet<string> {
  const opening = tokens.next();
  if (opening.kind !== '(') throw expected('"("', opening.text);
  const values = new Set<string>();
  for (;;) {
    const isEmpty = tokens.peek().kind === ',' || tokens.peek().kind === ')';
    const { kind, text } = isEmpty ? { kind: 'word', text: '' } : tokens.next();
    if (kind !== 'word') throw expected('a label value', text);
    values.add(text);
    const after = tokens.next();
    if (after.kind === ')') return values;
    if (after.kind !== ',') throw expected('"," or ")"', after.text);
  }
}
