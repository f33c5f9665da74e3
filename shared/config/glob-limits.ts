/**
 * What a glob may have. A matcher tries every way in which the stars can share a name among them, and every choice of
 * the braces, so a pattern of a few dozen characters could take hours.
 */

/** Of one pattern. */
const choicesMax = 100;
/** Braces in braces. */
const depthMax = 8;
const foldersMax = 2;
/** Between two slashes. */
const starsMax = 3;

/** Returns why the pattern is refused; undefined if it is not. A name without wildcards is none. */
export function globProblem(pattern: string): string | undefined {
  if (/[?*+@!]\(/.test(pattern)) return 'has a parenthesis behind a wildcard; wildcards are *, **, ?, [...] and {...}';
  const parts = pattern.split('/');
  if (parts.filter((part) => part.includes('**')).length > foldersMax) return `has ** more than ${foldersMax} times`;
  if (parts.some((part) => part.replaceAll('**', '').split('*').length - 1 > starsMax))
    return `has * more than ${starsMax} times between two slashes`;
  return bracesProblem(pattern);
}

/** How many names a part of the pattern stands for: its present alternative, and those before it in the same braces. */
type Choices = { readonly inAlternative: number; readonly before: number };

function bracesProblem(pattern: string): string | undefined {
  // In a name two full stops stand beside a slash.
  if (pattern.includes('{') && /[^/]\.\.[^/]/.test(pattern))
    return 'has a sequence in braces: name each choice, as in {a,b}';
  let present: Choices = { inAlternative: 1, before: 0 };
  /** Of the braces around the present ones, innermost last, and of the whole. */
  const around: Choices[] = [];
  for (const character of pattern) {
    const outer = around.at(-1);
    if (character === '{') {
      around.push(present);
      present = { inAlternative: 1, before: 0 };
    } else if (character === ',' && outer)
      present = { inAlternative: 1, before: present.before + present.inAlternative };
    else if (character === '}' && outer) {
      around.pop();
      present = { ...outer, inAlternative: outer.inAlternative * (present.before + present.inAlternative) };
    }
    if (present.before + present.inAlternative > choicesMax || around.length > depthMax)
      return `has more than ${choicesMax} choices in braces`;
  }
  return undefined;
}
