/**
 * Prometheus' text format (version 0.0.4), written in slices: many targets have megabytes of text, and probes are due
 * meanwhile.
 */
export type Family = {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
};

export type Labels = { readonly [name: string]: string };

/**
 * A family and its series. Each text is a few whole lines, so that what belongs together is of the same moment. The
 * series can be read several times, and their text is made each time.
 */
export type FamilyText = { readonly family: Family; readonly series: Iterable<string> };

/** The series of these, a text each. */
export const textsOf = <Of>(all: readonly Of[], textOf: (one: Of) => string): Iterable<string> => ({
  *[Symbol.iterator]() {
    for (const one of all) yield textOf(one);
  },
});

/** About 200 series, which take 1 ms. */
const sliceCharactersMax = 32 * 1024;

/**
 * Yields the text of all families, each slice when it is asked for. Families without series have their head alone. A
 * slice is longer than the limit by one series at most.
 */
export function* slicesOf(families: Iterable<FamilyText>): Generator<string, undefined> {
  let slice = '';
  for (const text of linesOf(families)) {
    slice += text;
    if (slice.length < sliceCharactersMax) continue;
    yield slice;
    slice = '';
  }
  if (slice !== '') yield slice;
}

function* linesOf(families: Iterable<FamilyText>): Generator<string> {
  let separator = '';
  for (const { family, series } of families) {
    yield `${separator}${headOf(family)}`;
    yield* series;
    separator = '\n';
  }
}

const headOf = ({ name, type, help }: Family): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

/** One line. `labels` as `labelsText` returns them. */
export const sample = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;

export const labelsText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

const special = /[\\"\n]/;

function escaped(value: string): string {
  if (!special.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/**
 * The series of a histogram. `own`: its labels as `labelsText` returns them; `bounds`: of each bucket the `le` and how
 * many observations are at most that, the last one `+Inf`.
 */
export function histogramText(
  name: string,
  own: string,
  { bounds, sum }: { readonly bounds: readonly (readonly [le: string, count: number])[]; readonly sum: number },
): string {
  const buckets = bounds.map(([le, count]) => sample(`${name}_bucket`, `le="${le}",${own}`, count));
  const [, count = 0] = bounds.at(-1) ?? [];
  return [...buckets, sample(`${name}_sum`, own, sum), sample(`${name}_count`, own, count)].join('');
}
