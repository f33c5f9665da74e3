/** Log lines of `npm start`, as a log collector reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonLog } from '../../../functions/local/process/json-log.ts';
import { assertHarmless, hostileText } from '../../support/hostile-text.ts';

test('a line is one JSON object, with its level as a word and its time in ISO 8601', () => {
  const lines: string[] = [];
  const log = jsonLog({ write: (line) => void lines.push(line) });
  log.info('layout written', { version: 1 });
  log.warn('lease lost');
  log.error('commit failed', { cause: new RangeError('too large') });
  const parsed = lines.map((line) => JSON.parse(line));
  const written = parsed.map(({ level, msg }) => `${level}: ${msg}`);
  assert.deepEqual(written, ['info: layout written', 'warn: lease lost', 'error: commit failed']);
  for (const { time } of parsed) assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.equal(parsed[0].version, 1);
  assert.deepEqual([parsed[2].cause.type, parsed[2].cause.message], ['RangeError', 'too large']);
});

test('a line has nothing that acts on a terminal, and means what was logged', () => {
  const lines: string[] = [];
  const log = jsonLog({ write: (line) => void lines.push(line) });
  log.warn(hostileText, { [hostileText]: hostileText, error: new Error(hostileText) });
  assertHarmless(lines.join(''), 'the line');
  assert.equal(lines.join('').split('\n').length, 2);
  const { msg, [hostileText]: field } = JSON.parse(lines.join(''));
  assert.deepEqual([msg, field], [hostileText, hostileText]);
});
