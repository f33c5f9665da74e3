/**
 * Bounds what the aliases of a document cost before they are followed. The parser shares an object that aliases use,
 * but reads the source of a merge key again for each use, and so the merge keys within it: a few lines can ask for more
 * work than any machine does.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  visit,
} from 'yaml';
import { aliasesMax, valuesMax } from './limits.ts';

/** `offset`: of the alias that is to blame, in the document's text. */
export type AliasesRefusal = { readonly detail: string; readonly offset?: number };

/**
 * Undefined: they may be followed. An alias is named by its place alone: what a file has may be none of its reader's
 * business.
 */
export function aliasesRefusal(document: Document.Parsed): AliasesRefusal | undefined {
  const aliases: Alias[] = [];
  const anchors = new Map<Alias, unknown>();
  const last = new Map<string, unknown>();
  visit(document, {
    Alias: (_, alias) => {
      aliases.push(alias);
      anchors.set(alias, last.get(alias.source));
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) last.set(node.anchor, node);
    },
  });
  if (aliases.length > aliasesMax)
    return { detail: `uses anchors ${aliases.length} times: a document may ${aliasesMax} times` };
  if (aliases.length === 0) return undefined;
  const unset = aliases.find((alias) => anchors.get(alias) === undefined);
  if (unset) return { detail: 'an alias needs an anchor of its name before it', offset: unset.range?.[0] ?? 0 };
  const isTooMuch = new Reading(anchors).valuesOf(document.contents) > valuesMax;
  return isTooMuch ? { detail: tooManyValues } : undefined;
}

export const tooManyValues = `has more than ${valuesMax} values, aliases included`;

/** Counts the values that are read. */
class Reading {
  readonly #anchors: ReadonlyMap<Alias, unknown>;
  readonly #counted = new Map<unknown, number>();

  constructor(anchors: ReadonlyMap<Alias, unknown>) {
    this.#anchors = anchors;
  }

  valuesOf(node: unknown): number {
    if (isPair(node)) return 1 + (isMerge(node) ? this.#merged(node.value) : this.valuesOf(node.value));
    if (!isCollection(node)) return 1;
    const known = this.#counted.get(node);
    if (known !== undefined) return known;
    // Until it is counted: an object that is merged into itself has no end.
    this.#counted.set(node, Number.POSITIVE_INFINITY);
    const values = node.items.reduce<number>((sum, item) => sum + this.valuesOf(item), 1);
    this.#counted.set(node, values);
    return values;
  }

  #merged(source: unknown): number {
    const node = isAlias(source) ? this.#anchors.get(source) : source;
    if (isSeq(node)) return node.items.reduce<number>((sum, item) => sum + this.#merged(item), 1);
    return isMap(node) ? this.valuesOf(node) : 1;
  }
}

const isMerge = ({ key }: Pair): boolean => key === '<<' || (isScalar(key) && key.value === '<<');
