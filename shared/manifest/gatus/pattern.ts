/** Patterns in conditions of Gatus, which are those of Go's `filepath.Match` without separators of folders. */

/** Whether a character is matched; `any`: so is every text. */
type Part = { readonly kind: 'any' } | { readonly kind: 'one'; readonly matches: (character: string) => boolean };

export function globMatches(pattern: string, text: string): boolean {
  if (pattern === '*') return true;
  const parts = partsOf([...pattern.replaceAll('/', '')]);
  // A pattern that is wrong matches nothing.
  return parts !== undefined && matchesAll(parts, [...text.replaceAll('/', '')]);
}

/** Follows all ways at once: the places in the pattern that a beginning of the text can lead to. */
function matchesAll(parts: readonly Part[], characters: readonly string[]): boolean {
  let places = withSkipped(new Set([0]), parts);
  for (const character of characters) {
    const next = new Set<number>();
    for (const place of places) {
      const part = parts[place];
      if (part?.kind === 'any') next.add(place);
      else if (part?.matches(character)) next.add(place + 1);
    }
    places = withSkipped(next, parts);
  }
  return places.has(parts.length);
}

function withSkipped(places: Set<number>, parts: readonly Part[]): Set<number> {
  for (const place of places) if (parts[place]?.kind === 'any') places.add(place + 1);
  return places;
}

const one = (matches: (character: string) => boolean): Part => ({ kind: 'one', matches });

function partsOf(pattern: readonly string[]): readonly Part[] | undefined {
  const parts: Part[] = [];
  for (let at = 0; at < pattern.length; ) {
    const read = partAt(pattern, at);
    if (!read) return undefined;
    parts.push(read.part);
    at = read.next;
  }
  return parts;
}

/** Undefined: the pattern is wrong. */
function partAt(pattern: readonly string[], at: number): { readonly part: Part; readonly next: number } | undefined {
  const character = pattern[at];
  if (character === '*') return { part: { kind: 'any' }, next: at + 1 };
  if (character === '?') return { part: one(() => true), next: at + 1 };
  if (character === '[') {
    const end = classEnd(pattern, at);
    const part = end === undefined ? undefined : classOf(pattern.slice(at + 1, end));
    return end === undefined || part === undefined ? undefined : { part, next: end + 1 };
  }
  const place = character === '\\' ? at + 1 : at;
  const literal = pattern[place];
  return literal === undefined ? undefined : { part: one((each) => each === literal), next: place + 1 };
}

/** The bracket that closes a class: not the first character in it, and not escaped. */
function classEnd(pattern: readonly string[], start: number): number | undefined {
  for (let at = start + 1; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === ']') return at;
  }
  return undefined;
}

function classOf(characters: readonly string[]): Part | undefined {
  const isNegated = characters[0] === '^';
  const ranges: (readonly [string, string])[] = [];
  const rest = isNegated ? characters.slice(1) : [...characters];
  const taken = (): string | undefined => {
    const next = rest.shift();
    return next === '\\' ? rest.shift() : next === '-' ? undefined : next;
  };
  while (rest.length > 0) {
    const from = taken();
    const isRange = rest[0] === '-';
    if (isRange) rest.shift();
    const to = isRange ? taken() : from;
    if (from === undefined || to === undefined) return undefined;
    ranges.push([from, to]);
  }
  if (ranges.length === 0) return undefined;
  return one((each) => ranges.some(([from, to]) => from <= each && each <= to) !== isNegated);
}
