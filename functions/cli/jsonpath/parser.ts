/**
 * Templates of `-o jsonpath`, parsed as kubectl parses them (k8s.io/client-go util/jsonpath: parser.go): text, and
 * actions in braces. An action is a path, a quoted text, or `range` and `end`.
 */

/** A bound of a slice; absent: the beginning or the end of the list. */
type Bound = number | undefined;

export type PathNode =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' | 'recursive' }
  /** `isIndex`: one element, which counts from the end where it is negative. */
  | {
      readonly kind: 'slice';
      readonly from: Bound;
      readonly to: Bound;
      readonly step: Bound;
      readonly isIndex: boolean;
    }
  | { readonly kind: 'union'; readonly paths: readonly Path[] }
  | { readonly kind: 'filter'; readonly left: Path; readonly operator: string; readonly right: Path }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'identifier'; readonly name: string };

export type Path = readonly PathNode[];

/** Text outside of braces is a literal. */
export type TemplateNode =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'range'; readonly path: Path; readonly body: readonly TemplateNode[] };

/** What is wrong with a template, or with what it is applied to. */
export class JsonpathError extends Error {}

/** Characters of a template. */
const templateCharactersMax = 10_000;
/** Ranges within ranges. */
const rangesMax = 100;

/** @throws JsonpathError */
export function parseTemplate(text: string): readonly TemplateNode[] {
  if (text.length > templateCharactersMax)
    throw new JsonpathError(`the template has more than ${templateCharactersMax} characters`);
  const actions = new Parser(text).template();
  const nodes: TemplateNode[] = [];
  for (let at = 0; at < actions.length; ) at = takeNode(actions, at, { into: nodes, depth: 0 });
  return nodes;
}

type Place = { readonly into: TemplateNode[]; readonly depth: number };

/** The place after the node. */
function takeNode(actions: readonly Path[], at: number, { into, depth }: Place): number {
  const path = actions[at] ?? [];
  const [first] = path;
  const keyword = first?.kind === 'identifier' ? first.name : '';
  if (keyword === 'end') throw new JsonpathError('not in range, nothing to end');
  if (keyword !== 'range') {
    into.push({ kind: 'path', path });
    return at + 1;
  }
  if (depth === rangesMax) throw new JsonpathError(`there are more than ${rangesMax} ranges in one another`);
  const body: TemplateNode[] = [];
  let next = at + 1;
  while (next < actions.length && !isEnd(actions[next]))
    next = takeNode(actions, next, { into: body, depth: depth + 1 });
  into.push({ kind: 'range', path: path.slice(1), body });
  if (next < actions.length) return next + 1;
  // As kubectl does where the end is missing: what follows stands behind the range, too.
  into.push(...body);
  return next;
}

const isEnd = (path: Path | undefined): boolean => path?.[0]?.kind === 'identifier' && path[0].name === 'end';

const endOfText = '';
const lineEnds = ['\n', '\r'];
const terminators = [endOfText, ' ', '\t', ...lineEnds, '.', ',', '[', ']', '$', '@', '{', '}'];

const isLetter = (character: string): boolean => /^[_\p{L}\p{Nd}]$/u.test(character);

class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#characters = Array.from(text);
  }

  /** Texts and actions in their order. */
  template(): readonly Path[] {
    const actions: Path[] = [];
    while (this.#peek() !== endOfText) {
      const text = this.#takeUntil((character) => character === '{');
      if (text !== '') actions.push([{ kind: 'literal', value: text }]);
      if (this.#next() === '{') actions.push(this.#action());
    }
    return actions;
  }

  /** Up to the closing brace, which is taken. */
  #action(): Path {
    const path: PathNode[] = [];
    for (;;) {
      if (this.#takes('[?(')) path.push(this.#filter());
      else if (this.#takes('..')) this.#recursive(path);
      else {
        const character = this.#next();
        if (character === '}') return path;
        path.push(...this.#nodes(character));
      }
    }
  }

  #nodes(character: string): Path {
    if (character === endOfText || lineEnds.includes(character)) throw new JsonpathError('unclosed action');
    if (character === ' ' || character === '@' || character === '$') return [];
    if (character === '[') return subscript(this.#bracketed());
    if (character === '"' || character === "'") return [{ kind: 'literal', value: this.#quoted(character) }];
    if (character === '.') return [this.#field()];
    this.#at -= 1;
    if (/^[-+\p{Nd}]$/u.test(character)) return [{ kind: 'literal', value: this.#number() }];
    if (isLetter(character)) return [this.#word()];
    throw new JsonpathError(`unrecognized character in action: ${JSON.stringify(character)}`);
  }

  #recursive(path: PathNode[]): void {
    if (path.at(-1)?.kind === 'recursive') throw new JsonpathError('invalid multiple recursive descent');
    path.push({ kind: 'recursive' });
    if (isLetter(this.#peek())) path.push(this.#field());
  }

  /** A terminator in a name has a `\` before it. */
  #field(): PathNode {
    let name = '';
    while (!terminators.includes(this.#peek())) {
      const character = this.#next();
      name += character === '\\' ? this.#next() : character;
    }
    return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name };
  }

  #word(): PathNode {
    const name = this.#takeUntil((character) => terminators.includes(character));
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' };
    return { kind: 'identifier', name };
  }

  #number(): number {
    const sign = /^[-+]$/.test(this.#peek()) ? this.#next() : '';
    const text = sign + this.#takeUntil((character) => !/^[.\p{Nd}]$/u.test(character));
    const value = Number(text);
    if (!/\d/.test(text) || Number.isNaN(value)) throw new JsonpathError(`cannot parse number ${text}`);
    return value;
  }

  #bracketed(): string {
    const text = this.#takeUntil((character) => character === ']' || character === '\n');
    if (this.#next() !== ']') throw new JsonpathError('unterminated array');
    return text;
  }

  #quoted(quote: string): string {
    let raw = '';
    for (;;) {
      const character = this.#next();
      if (character === quote) return unescaped(raw);
      if (character === endOfText || character === '\n') throw new JsonpathError('unterminated quoted string');
      raw += character === '\\' ? character + this.#next() : character;
    }
  }

  /** A closing parenthesis in a quoted text is part of it. */
  #filter(): PathNode {
    let text = '';
    let quote = '';
    for (;;) {
      const character = this.#next();
      if (character === endOfText || character === '\n') throw new JsonpathError('unterminated filter');
      if (character === ')' && quote === '') break;
      if (character === quote) quote = '';
      else if (quote === '' && (character === '"' || character === "'")) quote = character;
      text += character === '\\' ? character + this.#next() : character;
    }
    if (this.#next() !== ']') throw new JsonpathError('unclosed array expect ]');
    return filterOf(text);
  }

  #peek(): string {
    return this.#characters[this.#at] ?? endOfText;
  }

  #next(): string {
    const character = this.#peek();
    this.#at += 1;
    return character;
  }

  #takes(prefix: string): boolean {
    const isHere = Array.from(prefix).every((character, index) => this.#characters[this.#at + index] === character);
    if (isHere) this.#at += prefix.length;
    return isHere;
  }

  #takeUntil(isOver: (character: string) => boolean): string {
    const from = this.#at;
    while (this.#peek() !== endOfText && !isOver(this.#peek())) this.#at += 1;
    return this.#characters.slice(from, this.#at).join('');
  }
}

/** The path of an action that has the text. */
const pathOf = (text: string): Path => new Parser(`{${text}}`).template()[0] ?? [];

const operators = ['<', '>', '==', '!=', '<=', '>='];

function filterOf(text: string): PathNode {
  const [, left = text, operator = 'exists', right = ''] = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text) ?? [];
  if (operator !== 'exists' && !operators.includes(operator))
    throw new JsonpathError(`unrecognized filter operator ${operator}`);
  return { kind: 'filter', left: pathOf(left), operator, right: pathOf(right) };
}

/** What stands between brackets: `*`, an index, a slice, a key in single quotes, or several of them. */
function subscript(text: string): Path {
  const parts = text.split(',');
  if (parts.length > 1) return [{ kind: 'union', paths: parts.map((part) => subscript(part.trim())) }];
  const [, key] = /^'([^']*)'$/.exec(text) ?? [];
  if (key !== undefined) return pathOf(`.${key}`);
  const bounds = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text === '*' ? ':' : text);
  if (!bounds) throw new JsonpathError(`invalid array index ${text}`);
  const [from, to, step] = bounds.slice(1).map((bound) => boundOf(bound ?? ''));
  return [{ kind: 'slice', from, to, step, isIndex: bounds[2] === undefined }];
}

function boundOf(text: string): Bound {
  const digits = text.replace(':', '');
  if (digits === '') return undefined;
  const value = Number(digits);
  if (Number.isNaN(value)) throw new JsonpathError(`array index ${digits} is not a number`);
  return value;
}

const escapes: { readonly [character: string]: string } = {
  ...{ a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', '"': '"', "'": "'" },
};

/** Go's escapes (strconv.UnquoteChar). */
function unescaped(raw: string): string {
  return raw.replace(/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))/gs, (whole, byte, unit, character = '') => {
    const escaped = escapes[character] ?? codeText(byte ?? unit);
    if (escaped === undefined) throw new JsonpathError(`unquote string ${raw} error invalid syntax at ${whole}`);
    return escaped;
  });
}

const codeText = (digits: string | undefined): string | undefined =>
  digits === undefined ? undefined : String.fromCodePoint(Number.parseInt(digits, 16));
