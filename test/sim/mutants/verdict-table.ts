/** The verdicts as a table, and below it what was not as it should be. */
import type { Verdict } from './judge.ts';

const header = ['mutant', 'killed by', 'seed', 'simulated hours', 'masked by'];

export function tableOf(verdicts: readonly Verdict[]): readonly string[] {
  const rows = [header, ...verdicts.map(rowOf)];
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(' | ')
      .trimEnd(),
  );
  return [...lines, '', ...verdicts.flatMap(detailOf)];
}

const rowOf = ({ mutant, killedBy, passed, simulatedHours, maskedBy }: Verdict): readonly string[] => [
  mutant,
  killedBy?.invariant ?? (passed ? 'nothing' : 'FAILED'),
  killedBy === undefined ? '' : `${killedBy.seed}`,
  `${simulatedHours}`,
  maskedBy ?? '',
];

function detailOf({ mutant, killedBy, problem }: Verdict): readonly string[] {
  if (problem !== undefined) return [`${mutant}: FAILED: ${problem}`];
  return killedBy ? [`${mutant}: ${killedBy.invariant} at ${killedBy.timeMs} ms: ${killedBy.detail}`] : [];
}
