import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Runner } from '../../shared/exec/exec.ts';
import { namedRunner } from '../../shared/exec/named.ts';
import { execRequest } from '../support/exec-request.ts';

const said =
  (who: string): Runner =>
  async ({ command }) => ({ kind: 'exited', exitCode: 0, output: `${who}: ${command.join(' ')}` });

const outputs = async (run: Runner, ...command: readonly string[]) => {
  const outcome = await run(execRequest(command, 1_000));
  return 'output' in outcome ? outcome.output : `${outcome.kind}: ${outcome.message}`;
};

describe('the runner of a command on AWS', () => {
  const lambda = new Map([
    ['default', said('default')],
    ['db', said('db')],
  ]);
  const all = namedRunner({ lambda, ssm: (id) => said(id) });

  const table: readonly (readonly [command: readonly string[], output: string])[] = [
    [['cat', '/tmp/healthy'], 'default: cat /tmp/healthy'],
    [['lambda:db', 'select', '1'], 'db: select 1'],
    [['lambda:default', 'cat'], 'default: cat'],
    [['ssm:i-0123456789abcdef0', 'cat', 'x'], 'i-0123456789abcdef0: cat x'],
    [['ssm:mi-0123456789abcdef0', 'cat'], 'mi-0123456789abcdef0: cat'],
    [['lambda:other', 'x'], 'denied: no function named "other" runs exec probes here'],
    [['lambda:constructor', 'x'], 'denied: no function named "constructor" runs exec probes here'],
    [['lambda:db'], 'denied: nothing to run after "lambda:db"'],
    [['ssm:checkout', 'x'], 'denied: "checkout" is not the id of an instance'],
    [['ssm:*', 'x'], 'denied: "*" is not the id of an instance'],
    [['SSM:i-0123456789abcdef0', 'x'], 'default: SSM:i-0123456789abcdef0 x'],
  ];
  for (const [command, output] of table)
    test(`${command.join(' ')} → ${output}`, async () => assert.equal(await outputs(all, ...command), output));

  test('is off unless it is configured', async () => {
    const none = namedRunner({ lambda: new Map() });
    for (const command of [['cat'], ['lambda:db', 'x'], ['ssm:i-0123456789abcdef0', 'x']])
      assert.equal(await outputs(none, ...command), 'denied: exec probes are off in this deployment');
    const one = namedRunner({ lambda: new Map([['db', said('db')]]) });
    assert.equal(await outputs(one, 'cat'), 'denied: no function is named default');
    assert.match(await outputs(one, 'ssm:i-0123456789abcdef0', 'x'), /^denied: exec probes on instances are off/);
    const instances = namedRunner({ lambda: new Map(), ssm: (id) => said(id) });
    assert.equal(await outputs(instances, 'cat'), 'denied: no function is named default');
  });
});
