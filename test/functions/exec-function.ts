/** A function of a deployment's own that runs the commands of exec probes. */
import assert from 'node:assert/strict';
import type { AwsCall } from '../../shared/aws/aws-call.ts';
import { zipOf } from '../support/zip.ts';

const source = `
exports.handler = async ({ command: [name, ...args], container, target, timeoutMs }) => {
  switch (name) {
    case 'echo': return { exitCode: 0, output: JSON.stringify({ args, container, target, timeoutMs }) };
    case 'fail': return { exitCode: 3, output: 'ä'.repeat(9000) };
    case 'throw': throw new Error('out of order');
    case 'sleep': return new Promise((resolve) => setTimeout(resolve, 20000, { exitCode: 0 }));
    case 'odd': return { exitCode: 'none' };
    default: return null;
  }
};
`;

const createdStatus = 201;
const timeoutMs = 30_000;

/** Its ARN. */
export async function createExecFunction(call: AwsCall): Promise<string> {
  const body = JSON.stringify({
    FunctionName: 'check',
    Runtime: 'nodejs24.x',
    Role: 'arn:aws:iam::000000000000:role/check',
    Handler: 'index.handler',
    Timeout: 30,
    Code: { ZipFile: zipOf('index.js', source).toString('base64') },
  });
  const headers = { 'content-type': 'application/json' };
  const request = { service: 'lambda', path: '/2015-03-31/functions', headers, body } as const;
  const created = await call(request, performance.now() + timeoutMs);
  assert.ok(created.kind === 'answer' && created.status === createdStatus, JSON.stringify(created));
  return JSON.parse(created.body).FunctionArn;
}
