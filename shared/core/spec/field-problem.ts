/** What is wrong with one field of a request: an entry of an RFC 9457 problem's `errors`. */
export type FieldProblem = {
  /** JSON pointer (RFC 6901) into the target, e.g. `/spec/containers/0/livenessProbe/periodSeconds`. */
  readonly pointer: string;
  readonly detail: string;
};

/** Appends one reference token to a pointer. */
export function at(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** One problem, or none if `valid`. */
export const unless = (valid: boolean, pointer: string, detail: string): readonly FieldProblem[] =>
  valid ? [] : [{ pointer, detail }];

export type Range = { readonly min: number; readonly max: number };

/** An absent number passes: its default is in the range. */
export function inRange(value: number | undefined, { min, max }: Range, pointer: string): readonly FieldProblem[] {
  const valid = value === undefined || (Number.isInteger(value) && value >= min && value <= max);
  return unless(valid, pointer, `must be a whole number from ${min} to ${max}`);
}

export const atMost = (count: number, max: number, pointer: string): readonly FieldProblem[] =>
  unless(count <= max, pointer, `must have at most ${max} entries`);

/** `a, b or c`. */
export const listed = (texts: readonly string[], word: 'and' | 'or'): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} ${word} ${texts.at(-1)}`;

/** One problem at the second and each later use of a value. */
export function unique(values: readonly string[], pointerOf: (index: number) => string): readonly FieldProblem[] {
  return values.flatMap((value, index) =>
    unless(values.indexOf(value) === index, pointerOf(index), 'must be unique, is used twice'),
  );
}
