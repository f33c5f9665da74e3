/** The handler `exec`. */

import { at, atMost, type FieldProblem, unless } from './field-problem.ts';
import { handlerRow, type ProbeSubject, resolved } from './handler-fields.ts';
import { commandWordsMax } from './limits.ts';
import type { EnvVar } from './types.ts';

export type ExecRequest = {
  readonly kind: 'exec';
  readonly command: readonly string[];
  readonly target: ProbeSubject['target'];
  readonly container: string;
  readonly timeoutMs: number;
};

export const exec = handlerRow({
  shape: { command: { kind: 'texts' } },
  problems: ({ command }, pointer) => commandProblems(command, at(pointer, 'command')),
  request(handler, { target, container }, timeoutMs) {
    const command = handler.command.map((word) => expandVariables(word, container.env ?? []));
    return resolved<ExecRequest>({ kind: 'exec', command, target, container: container.name, timeoutMs });
  },
  cost: () => 'exec',
  // Both output pipes of a command, and one descriptor while it starts.
  descriptors: 3,
});

function commandProblems(command: readonly string[], field: string): readonly FieldProblem[] {
  return [
    ...unless(command.length > 0, field, 'must name a command'),
    ...atMost(command.length, commandWordsMax, field),
    ...command.flatMap((word, index) => unless(!parameterReference.test(word), at(field, index), noReference)),
  ];
}

/** Run Command would replace it by the parameter's value, which the prober's role may read and the caller may not. */
const parameterReference = /\{\{\s*ssm(?:-secure)?:/i;
const noReference = 'must not refer to Parameter Store: {{ssm:…}} is not resolved';

/** `$(NAME)` from the static env, `$$` for a dollar; an unknown name stays as it is. Values are not expanded again. */
function expandVariables(text: string, env: readonly EnvVar[]): string {
  const values = new Map(env.map(({ name, value }) => [name, value]));
  const parts: string[] = [];
  let from = 0;
  for (const { at, reference } of referencesIn(text)) {
    parts.push(text.slice(from, at), expanded(reference, values));
    from = at + reference.length;
  }
  return parts.join('') + text.slice(from);
}

/** The names of the variables that a word of a command refers to. */
export const variablesIn = (word: string): readonly string[] =>
  [...referencesIn(word)]
    .filter(({ reference }) => reference.startsWith('$('))
    .map(({ reference }) => nameIn(reference));

const nameIn = (reference: string): string => reference.slice('$('.length, -1);

/** Each `$(NAME)`, `$$` and `$`. */
function* referencesIn(text: string): Generator<{ readonly at: number; readonly reference: string }> {
  const lastClosing = text.lastIndexOf(')');
  let from = 0;
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    from = referenceEnd(text, at, lastClosing);
    yield { at, reference: text.slice(at, from) };
  }
}

/** After the last parenthesis no `$(` can be closed. Searching again from each of them would take quadratic time. */
function referenceEnd(text: string, at: number, lastClosing: number): number {
  if (text[at + 1] === '$') return at + 2;
  return text[at + 1] === '(' && at < lastClosing ? text.indexOf(')', at) + 1 : at + 1;
}

function expanded(reference: string, values: ReadonlyMap<string, string>): string {
  if (reference === '$' || reference === '$$') return '$';
  return values.get(nameIn(reference)) ?? reference;
}
