/**
 * Formats metrics that are computed for each scrape in Prometheus' text format (version 0.0.4). Keeps no state between
 * scrapes.
 */

export type Family = {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
};

export type Labels = { readonly [name: string]: string };

export type Exposition<Key extends string> = {
  add(family: Key, labels: Labels, value: number): void;
  /** Returns all families, including those without samples. */
  text(): string;
};

export function exposition<Key extends string>(families: Readonly<Record<Key, Family>>): Exposition<Key> {
  const lines = new Map<Key, string[]>();
  return {
    add(family, labels, value) {
      const line = `${families[family].name}{${labelsText(labels)}} ${value}\n`;
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
