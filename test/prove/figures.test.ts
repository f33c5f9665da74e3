import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seedLine, table } from '../sim/report.ts';
import { simulate } from '../sim/simulate.ts';
import { newTotal } from '../sim/total.ts';
import { atMost, exactly, figureLines, figuresIn, judged, scoreOf, unjudged } from '../support/figures.ts';
import { repeatFigure, simFigures } from './sim-figures.ts';

test('a table that was printed is read as it was meant', () => {
  const figures = [
    unjudged('targets, of two kinds', '500 (550)'),
    exactly('flips', 0, 0),
    atMost('gap', Number.POSITIVE_INFINITY, { limit: 27, unit: 's' }),
    judged('hash', 'a, b', { limit: 'the same', holds: false }),
  ];
  const output = ['something said', ...figureLines(figures), '1 passed, 2 failed'].join('\n');
  assert.deepEqual(figuresIn(output), figures);
  assert.deepEqual(scoreOf(figuresIn(output)), { passed: 1, failed: 2 });
});

test('figures of simulations are added up over processes, and what is missing holds no limit', async () => {
  const outcome = await simulate({ seed: 1, hours: 1 });
  const total = newTotal();
  total.add(outcome);
  const output = [seedLine(outcome), '', ...table(total, 1)].join('\n');
  const named = (name: string, outputs: readonly string[]) =>
    simFigures(outputs, 2).find((figure) => figure.name === `sim: ${name}`);
  assert.deepEqual(named('simulated hours', [output, output]), {
    name: 'sim: simulated hours',
    measured: '2',
    limit: '≥ 2',
    holds: true,
  });
  assert.equal(named('violations', [output])?.measured, `${total.violations}`);
  for (const name of ['simulated hours', 'violations', 'probes an hour', 'faults an hour'])
    assert.equal(named(name, [output, ''])?.holds, false, name);
  assert.equal(repeatFigure(output, output).holds, true);
  assert.equal(repeatFigure(output, output.replace(/trace \w/, 'trace x')).holds, false);
  assert.equal(repeatFigure('', '').holds, false);
});
