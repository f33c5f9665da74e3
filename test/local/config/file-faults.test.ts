/** What the log says of faulty files: each fault once, and when it is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FileFault, faultLog, logNotMonitored } from '../../../functions/local/config/file-faults.ts';
import { recordingLog } from '../../support/recording-log.ts';

const fault = (file: string, detail: string, isWhole = false): FileFault => ({
  ...{ file, line: 1, column: 1, detail },
  ...(isWhole && { isWhole }),
});

test('a fault is logged when it comes, when it changes, and when it is over', () => {
  const log = recordingLog();
  const faults = faultLog(log);
  const said = (now: readonly FileFault[]) => {
    const from = log.lines.length;
    faults.report(now);
    return log.lines.slice(from).map(({ level, message, fields }) => [level, message, fields?.file, fields?.detail]);
  };
  const isFaulty = 'target file is faulty';
  assert.deepEqual(said([fault('a', 'x'), fault('b', 'y')]), [
    ['error', isFaulty, 'a', 'x'],
    ['error', isFaulty, 'b', 'y'],
  ]);
  assert.deepEqual(said([fault('a', 'x'), fault('b', 'y')]), []);
  assert.deepEqual(said([fault('b', 'z', true)]), [
    ['error', 'file of targets not applied: its targets stay as they were', 'b', 'z'],
    ['info', 'file of targets is all right again', 'a', undefined],
  ]);
  assert.deepEqual(said([]), [['info', 'file of targets is all right again', 'b', undefined]]);
  assert.deepEqual(said([]), []);
});

test('of one file twenty faults are logged, and how many more there are', () => {
  const log = recordingLog();
  faultLog(log).report(Array.from({ length: 21 }, (_, index) => fault('a', `x${index}`)));
  assert.equal(log.lines.length, 21);
  assert.deepEqual(log.lines.at(-1)?.fields, { file: 'a', faults: 1 });
});

for (const [count, more] of [
  [1, []],
  [4, [{ file: 'a', parts: 3 }]],
] as const)
  test(`of ${count} parts that nothing probes, the first is named and the others are counted`, () => {
    const log = recordingLog();
    const note = { kind: 'leftOut', file: 'a', line: 1, column: 1, detail: 'no endpoint' } as const;
    logNotMonitored(log, { file: 'a', leftOut: [note] as never, count });
    const { kind: _, ...named } = note;
    assert.deepEqual(
      log.lines.map(({ fields }) => fields),
      [named, ...more],
    );
  });
