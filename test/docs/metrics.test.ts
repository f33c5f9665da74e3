/**
 * The metrics of docs/operating.md and of the alerting rules are those that `/metrics` has, with the same labels and
 * values.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';
import { samplesOf } from '../support/scraped.ts';
import { scrapedWorld } from '../support/scraped-world.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity?: string };
  readonly annotations: { readonly [name: string]: string };
};

const { groups } = parse(read('examples/prometheus/rules.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

/** What Prometheus adds to each series that it scrapes. */
const ofTheScrape = ['job', 'instance'];

type Exposed = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** By metric and label: the values that are there. */
function exposedBy(text: string): Exposed {
  const exposed = new Map<string, Map<string, Set<string>>>();
  for (const { name, labels } of samplesOf(text)) {
    const metric = exposed.get(name) ?? new Map<string, Set<string>>();
    for (const [label, value] of Object.entries(labels)) metric.set(label, (metric.get(label) ?? new Set()).add(value));
    exposed.set(name, metric);
  }
  return exposed;
}

const metricsIn = (expr: string) => [...new Set(expr.match(/\b(?:probelet|prober)_\w+/g))];

/** Each label that a rule selects by, groups by or writes about. */
function labelsIn({ expr, annotations }: Pick<Rule, 'expr' | 'annotations'>): readonly string[] {
  const selected = [...expr.matchAll(/(\w+) *(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
  const grouped = [...expr.matchAll(/\b(?:by|on|without|ignoring) *\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  const written = [
    ...Object.values(annotations)
      .join(' ')
      .matchAll(/\$labels\.(\w+)/g),
  ].map(([, label = '']) => label);
  return [...new Set([...selected, ...grouped, ...written])];
}

/** What a rule uses and no scrape has. */
function missing(exposed: Exposed, rule: Pick<Rule, 'expr' | 'annotations'>): readonly string[] {
  const metrics = metricsIn(rule.expr);
  const of = metrics.map((metric) => exposed.get(metric));
  const labels = labelsIn(rule).filter(
    (label) => !ofTheScrape.includes(label) && !of.every((metric) => metric?.has(label)),
  );
  const values = [...rule.expr.matchAll(/(\w+)\{(\w+)="([^"]*)"\}/g)].filter(
    ([, metric = '', label = '', value = '']) => !exposed.get(metric)?.get(label)?.has(value),
  );
  return [...metrics.filter((metric) => !exposed.has(metric)), ...labels, ...values.map(([selector]) => selector)];
}

describe('what /metrics exposes', () => {
  /** With series of each target, and without. */
  let [exposed, summed]: readonly [Exposed, Exposed] = [new Map(), new Map()];

  before(async () => {
    [exposed, summed] = [exposedBy(await scrapedWorld(true)), exposedBy(await scrapedWorld(false))];
  });

  test('has every metric, label and label value that the alerting rules use', () => {
    assert.ok(rules.length >= 8);
    assert.deepEqual(
      rules
        .map((rule) => [rule.alert, missing(new Map([...summed, ...exposed]), rule)] as const)
        .filter(([, faults]) => faults.length > 0),
      [],
    );
  });

  test('is in the table of docs/operating.md, with its labels, and nothing else is', () => {
    const section = read('docs/operating.md').split('\n## Metrics\n')[1]?.split('\n## ')[0] ?? '';
    const documented = tableRowsOf(section).map(([metric = '', labels = '']) => [
      codeSpansOf(metric)[0],
      [...codeSpansOf(labels)].sort().join(),
    ]);
    const histogram = /_(?:bucket|sum|count)$/;
    const sums = [...summed].filter(([name]) => !exposed.has(name));
    // The series of a histogram are one metric, and `le` belongs to its format.
    const labelled = new Map(
      [...exposed, ...sums].map(([name, labels]) => {
        const named = [...labels.keys()].filter((label) => label !== 'le');
        return [name.replace(histogram, ''), named.sort().join()] as const;
      }),
    );
    labelled.delete('prober_probe_duration_seconds');
    const rest = documented.filter(([name]) => name !== 'prober_probe_duration_seconds');
    assert.deepEqual([...labelled].sort(), rest.sort());
    assert.ok(![...documented].some(([name]) => histogram.test(name ?? '')));
  });

  test('names no target where targets have no series of their own, and nothing by the name of such a series', () => {
    const labels = [...summed.values()].flatMap((metric) => [...metric.keys()]);
    assert.deepEqual([...new Set(labels)].sort(), ['condition', 'le', 'probe_type', 'result', 'shard']);
    const ofTargets = [...exposed].filter(([name, metric]) => metric.has('target') && summed.has(name));
    assert.deepEqual(ofTargets, []);
  });

  test('has series under the names of probelet or of kubelet only', () => {
    const others = [...exposed.keys(), ...summed.keys()].filter((name) => !/^(?:probelet|prober)_/.test(name));
    assert.deepEqual(others, []);
  });
});

describe('the comparison of rules with a scrape', () => {
  const exposed = exposedBy('probelet_one{shard="00",result="success"} 1\n');
  const rows: readonly (readonly [what: string, expr: string, faults: readonly string[]])[] = [
    ['what is there', 'max by (shard) (probelet_one{result="success"}) == 1', []],
    ['another metric', 'probelet_two > 0', ['probelet_two']],
    ['another label of a group', 'sum by (target) (probelet_one)', ['target']],
    ['another label of a selector', 'probelet_one{target!="a"}', ['target']],
    ['another value', 'probelet_one{result="failed"}', ['probelet_one{result="failed"}']],
  ];
  for (const [what, expr, faults] of rows)
    test(`sees ${what}`, () => assert.deepEqual(missing(exposed, { expr, annotations: {} }), faults));

  test('sees another label of an annotation', () => {
    const annotations = { summary: 'of {{ $labels.pod }}' };
    assert.deepEqual(missing(exposed, { expr: 'probelet_one', annotations }), ['pod']);
  });
});

test('each alert has a severity, a summary and a description', () => {
  const bare = rules.filter(
    ({ labels, annotations }) => !labels.severity || !annotations.summary || !annotations.description,
  );
  assert.deepEqual(bare, []);
});

test('each alert has a unit test in which it fires', () => {
  const { tests } = parse(read('examples/prometheus/rules.test.yaml')) as {
    readonly tests: readonly {
      readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: readonly object[] }[];
    }[];
  };
  const fired = new Set(
    tests.flatMap(({ alert_rule_test }) => alert_rule_test.flatMap((one) => (one.exp_alerts ? [one.alertname] : []))),
  );
  assert.deepEqual(
    rules.map(({ alert }) => alert).filter((alert) => !fired.has(alert)),
    [],
  );
});
