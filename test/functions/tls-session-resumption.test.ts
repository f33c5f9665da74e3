/** The variable of a deployment reaches the prober, for the function and the task. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const deployed = import.meta.resolve('../../functions/prober/deployed.ts');
const environment = {
  AWS_REGION: 'us-east-1',
  PROBELET_TABLE: 'targets',
  PROBELET_BUS: 'probes',
  PROBELET_SHARD_QUEUE_URL: 'http://127.0.0.1:9/queue.fifo',
  PROBELET_RELEASE: 'r1',
};

const keepsSessions = `
const { deployedProber } = await import(process.argv[1]);
console.log('keeps', deployedProber(process.argv[1]).tlsSessions !== undefined);
process.exit();
`;

for (const [variables, expected] of [
  [{}, 'keeps false\n'],
  [{ PROBELET_TLS_SESSION_RESUMPTION: '1' }, 'keeps true\n'],
] as const)
  test(`a prober with ${JSON.stringify(variables)}: ${expected.trim()} TLS sessions`, async () => {
    const args = ['--input-type=module', '--eval', keepsSessions, deployed];
    const { stdout } = await run(process.execPath, args, { env: { ...environment, ...variables } });
    assert.equal(stdout, expected);
  });
