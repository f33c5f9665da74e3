/** A change of the source that some test should notice. */
import type { Edit } from '../support/edited-source.ts';

export type Mutant = Edit & {
  readonly operator: Operator;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** The line without its indent, by which a mutant is recognised after other lines have moved it. */
  readonly code: string;
  readonly original: string;
};

export type Operator =
  | 'comparison'
  | 'logical'
  | 'condition'
  | 'negation'
  | 'arithmetic'
  | 'constant'
  | 'boolean'
  | 'return'
  | 'statement'
  | 'method';

/** Where a child process finds the mutant that it loads, as JSON. */
export const mutantVariable = 'PROBELET_MUTANT';

/** One word in reports and in the options of the command. */
export const nameOf = ({ file, line, column, operator, original, replacement }: Mutant): string =>
  `${file}:${line}:${column} ${operator}: ${oneLine(original)} -> ${oneLine(replacement)}`;

const excerptCharacters = 70;

function oneLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.length <= excerptCharacters ? flat : `${flat.slice(0, excerptCharacters)}…`;
}
