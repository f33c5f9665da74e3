/** A scrape of `/metrics`, read as Prometheus reads it. */
import { type FamilyText, slicesOf } from '../../functions/local/metrics/exposition.ts';

export type Sample = {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
};

export function samplesOf(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(sampleOf);
}

function sampleOf(line: string): Sample {
  const [, name = '', labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === '') throw new Error(`no sample: ${line}`);
  const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [
    label,
    text,
  ]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

/** kubelet's own counters of probes. */
export const probeTotals = (text: string): readonly Sample[] => familyOf(samplesOf(text), 'prober_probe_total');

export const familyOf = (samples: readonly Sample[], family: string): readonly Sample[] =>
  samples.filter(({ name }) => name === family);

export const wholeText = (families: Iterable<FamilyText>): string => [...slicesOf(families)].join('');
