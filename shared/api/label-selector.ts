/** Kubernetes label selectors, equality- and set-based: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Source: apimachinery/pkg/labels. */
import { isLabelValue, isQualifiedName } from '../core/names.ts';

export type Labels = { readonly [key: string]: string };

export type LabelSelector = (labels: Labels) => boolean;

export type ParsedSelector =
  | { readonly kind: 'selector'; readonly matches: LabelSelector }
  | { readonly kind: 'invalid'; readonly reason: string };

/** The empty selector matches everything. */
export function parseLabelSelector(text: string): ParsedSelector {
  const requirements: LabelSelector[] = [];
  for (const part of splitRequirements(text)) {
    const parsed = parseRequirement(part);
    if (parsed.kind === 'invalid') return parsed;
    requirements.push(parsed.matches);
  }
  return { kind: 'selector', matches: (labels) => requirements.every((matches) => matches(labels)) };
}

/** At commas outside parentheses. */
function splitRequirements(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^()]*\))/);
}

const setBased = /^\s*(\S+)\s+(in|notin)\s*\(([^()]*)\)\s*$/;
const equalityBased = /^\s*([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)\s*$/;
const existence = /^\s*(!?)\s*([^\s!=(),]+)\s*$/;

function parseRequirement(text: string): ParsedSelector {
  const set = setBased.exec(text);
  if (set) return oneOf(set[1], (set[3] ?? '').split(','), set[2] === 'in');
  const equality = equalityBased.exec(text);
  if (equality) return oneOf(equality[1], [equality[3] ?? ''], equality[2] !== '!=');
  const exists = existence.exec(text);
  if (!exists) return invalid(`${JSON.stringify(text.trim())} is no requirement`);
  const [, negation, key = ''] = exists;
  if (!isQualifiedName(key)) return invalid(`${JSON.stringify(key)} is no label key`);
  return selector((labels) => Object.hasOwn(labels, key) === (negation === ''));
}

/** `notin` and `!=` match also where the label is absent, as in Kubernetes. */
function oneOf(key: string | undefined, texts: readonly string[], wanted: boolean): ParsedSelector {
  const name = key ?? '';
  const values = texts.map((text) => text.trim());
  if (!isQualifiedName(name)) return invalid(`${JSON.stringify(name)} is no label key`);
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) return invalid(`${JSON.stringify(wrong)} is no label value`);
  return selector((labels) => (Object.hasOwn(labels, name) && values.includes(labels[name] ?? '')) === wanted);
}

const selector = (matches: LabelSelector): ParsedSelector => ({ kind: 'selector', matches });
const invalid = (reason: string): ParsedSelector => ({ kind: 'invalid', reason });
