import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllowList } from '../../shared/exec/allow-list.ts';

describe('an allow-list', () => {
  const parsed = parseAllowList(
    ['# probes', '', '  /usr/bin/test', '["/bin/cat","/tmp/healthy"]', '["true"]\r'].join('\n'),
  );
  assert.equal(parsed.kind, 'ok');
  const table: readonly (readonly [command: readonly string[], allowed: boolean])[] = [
    [['/usr/bin/test'], true],
    [['/usr/bin/test', '-f', '/tmp/x'], true],
    [['/usr/bin/../bin/test'], false],
    [['test'], false],
    [['/bin/cat', '/tmp/healthy'], true],
    [['/bin/cat'], false],
    [['/bin/cat', '/etc/passwd'], false],
    [['/bin/cat', '/tmp/healthy', ''], false],
    [['true'], true],
    [[], false],
    [['# probes'], false],
    [[''], false],
  ];
  for (const [command, allowed] of table)
    test(`${allowed ? 'allows' : 'refuses'} ${JSON.stringify(command)}`, () =>
      assert.equal(parsed.allows(command), allowed));
  test('without a line allows nothing', () => {
    const empty = parseAllowList('');
    assert.ok(empty.kind === 'ok' && !empty.allows(['/bin/true']));
  });
});

describe('a line is refused with its number', () => {
  const table: readonly (readonly [line: string, detail: string])[] = [
    ['bin/true', 'neither an absolute path nor a JSON array of strings'],
    ['{"a":1}', 'neither an absolute path nor a JSON array of strings'],
    ['["/bin/true"', 'not a JSON array of strings'],
    ['["/bin/true", 1]', 'not a JSON array of strings'],
    ['[]', 'an empty command'],
  ];
  for (const [line, detail] of table)
    test(line, () => assert.deepEqual(parseAllowList(`/bin/ls\n${line}\n`), { kind: 'invalid', line: 2, detail }));
});
