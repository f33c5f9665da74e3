/** Figures of simulations from what they print, added up over several of them. */
import { atLeast, exactly, type Figure, judged, unjudged } from '../support/figures.ts';

const probesPerHourMin = 5_000;
const faultsPerHourMin = 25;

/** `outputs`: of `npm run sim`. */
export function simFigures(outputs: readonly string[], wantedHours: number): readonly Figure[] {
  const tables = outputs.map(rowsOf);
  const sum = (name: string): number =>
    tables.reduce((total, rows) => total + Number.parseInt(rows.get(name) ?? '', 10), 0);
  const each = (name: string): string => tables.map((rows) => rows.get(name) ?? 'nothing').join('; ');
  const hours = sum('simulated hours');
  return [
    atLeast('sim: simulated hours', hours, { limit: wantedHours }),
    exactly('sim: violations', sum('violations'), 0),
    atLeast('sim: probes an hour', Math.round(sum('probes') / hours), { limit: probesPerHourMin }),
    atLeast('sim: faults an hour', Math.round(sum('faults') / hours), { limit: faultsPerHourMin }),
    unjudged('sim: probes, commits, faults', `${sum('probes')}, ${sum('commits')}, ${sum('faults')}`),
    unjudged('sim: crash points', each('crash points')),
    unjudged('sim: gap beyond the period', each('gap beyond the period')),
    unjudged('sim: detection beyond the threshold', each('detection beyond the threshold')),
    unjudged('sim: duplicate probes', each('duplicate probes')),
    unjudged('sim: trace of all seeds', each('trace of all seeds')),
  ];
}

/** `name  value`, in two columns. */
function rowsOf(output: string): ReadonlyMap<string, string> {
  const rows = output.split('\n').map((line) => /^(\S.*?) {2,}(\S.*)$/.exec(line));
  return new Map(rows.flatMap((row) => (row?.[1] && row[2] ? [[row[1], row[2]] as const] : [])));
}

/** The same seed twice. */
export function repeatFigure(first: string, again: string): Figure {
  const [one, other] = [first, again].map((output) => /^seed (\d+) +trace (\w+)/m.exec(output)?.slice(1).join(' '));
  const holds = one !== undefined && one === other;
  return judged('sim: seed and trace hash, twice', `${one}, ${other}`, { limit: 'the same', holds });
}
