import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { optionsOf } from './options.ts';

const bad: readonly (readonly [option: string, args: readonly string[]])[] = [
  ['--seeds', ['--seeds', 'ten']],
  ['--seeds', ['--seeds', '0']],
  ['--hours', ['--hours', '1.5']],
  ['--hours', ['--hours', '']],
  ['--seed', ['--seed', '99999999999']],
  ['--jobs', ['--jobs', '0']],
  ['--output', ['--output', 'xml']],
  ['--replay', ['--replay', 'trace.txt', '--seeds', '2']],
  ['--seeds', ['--kept', '--seeds', '0']],
  ['--hours', ['--kept', '--hours', '3']],
  ['--world', ['--world', 'huge']],
  ['--world', ['--kept', '--world', 'large']],
  ['--sedes', ['--sedes', '1']],
];

describe('options of the simulator', () => {
  for (const [option, args] of bad)
    test(`refuses ${args.join(' ')} by name`, () => {
      const asked = optionsOf(args);
      assert.ok(asked.kind === 'refused' && asked.why.includes(option), JSON.stringify(asked));
    });

  test('never starts more threads than there are seeds, and replays one seed', () => {
    const jobsOf = (...args: readonly string[]) => {
      const asked = optionsOf(args);
      return asked.kind === 'options' && [asked.options.seeds, asked.options.jobs];
    };
    assert.deepEqual(jobsOf('--seeds', '2', '--jobs', '4'), [2, 2]);
    assert.deepEqual(jobsOf('--replay', 'trace.txt'), [1, 1]);
    assert.deepEqual(jobsOf('--kept', '--seeds', '6', '--jobs', '2'), [6, 2]);
  });
});
