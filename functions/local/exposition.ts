/**
 * Formats metrics that are computed for each scrape in Prometheus' text format (version 0.0.4). Keeps no state between
 * scrapes.
 */

export type Family = {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
};

export type Labels = { readonly [name: string]: string };

export type Exposition<Key extends string> = {
  /** `suffix`: of a series of a histogram. */
  add(family: Key, labels: Labels, value: number, suffix?: '_bucket' | '_sum' | '_count'): void;
  /** Returns all families, including those without samples. */
  text(): string;
};

export function exposition<Key extends string>(families: Readonly<Record<Key, Family>>): Exposition<Key> {
  const lines = new Map<Key, string[]>();
  return {
    add(family, labels, value, suffix) {
      const line = `${families[family].name}${suffix ?? ''}{${labelsText(labels)}} ${value}\n`;
      const known = lines.get(family);
      if (known) known.push(line);
      else lines.set(family, [line]);
    },
    text: () =>
      (Object.keys(families) as Key[])
        .map((key) => `\n${headOf(families[key])}${(lines.get(key) ?? []).join('')}`)
        .join(''),
  };
}

const headOf = ({ name, type, help }: Family): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

const labelsText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
