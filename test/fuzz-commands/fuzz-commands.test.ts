/** Random curl commands and their probes, and what the comparison holds against a wrong probe. The rest: `main.ts`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../support/seeded-random.ts';
import { convertedProbe } from './converted-probe.ts';
import { fates, fuzzCommands } from './fuzz.ts';
import { type Judgement, judge } from './judge.ts';
import { pathOf } from './programs.ts';
import { fuzzScripts } from './scripts.ts';
import { type Answer, answers, type RecordedRequest } from './stand.ts';

const count = 120;
const seed = 1;

test(`of ${count} random commands, those by curl become the same request, or stay commands`, async () => {
  const programs = { curl: pathOf('curl') ?? 'curl' };
  const { tools, failures } = await fuzzCommands({ random: seededRandom(seed), count, programs });
  assert.deepEqual(failures, []);
  const { curl } = tools;
  assert.ok(curl && curl.same + curl.approximated > 10 && curl.stays > 10, JSON.stringify(curl));
  assert.equal(fates.reduce((sum, fate) => sum + curl[fate], 0) > count / 4, true);
});

test('scripts that run one command run it in every shell', async () => {
  const { ran, failures } = await fuzzScripts({ random: seededRandom(seed), count: 40 });
  assert.deepEqual({ ran, failures }, { ran: 40, failures: [] });
});

const request: RecordedRequest = { port: '@HTTP@', method: 'GET', path: '/', host: 'localhost:80', headers: [] };
const answerOf = (name: string): Answer => {
  const found = answers.find((each) => each.name === name);
  assert.ok(found);
  return found;
};

type Side = { readonly isSuccess?: boolean; readonly requests?: readonly RecordedRequest[] };

function judged(
  answer: string,
  { command, probe, notes = '' }: { command?: Side; probe?: Side; notes?: string },
): Judgement {
  const observed = ({ isSuccess = true, requests = [request] }: Side = {}) => ({
    isSuccess,
    recorded: { requests, connected: requests.length === 0 ? [] : (['@HTTP@'] as const) },
  });
  return judge({ answer: answerOf(answer), command: observed(command), probe: observed(probe), notes });
}

const other = (fields: Partial<RecordedRequest>): Side => ({ requests: [{ ...request, ...fields }] });
const statuses = 'only a status from 200 to 399 is a success';

describe('the comparison', () => {
  test('holds for what is the same', () => assert.deepEqual(judged('200', {}), { kind: 'same' }));

  for (const [name, probe] of Object.entries({
    path: other({ path: '/a' }),
    method: other({ method: 'POST' }),
    host: other({ host: 'shop' }),
    header: other({ headers: ['x-a: b'] }),
    port: other({ port: '@HTTPS@' }),
    nothing: { requests: [] },
    repetition: { requests: [request, request] },
  }))
    test(`finds another request: ${name}`, () => {
      const judgement = judged('200', { probe, notes: statuses });
      assert.equal(judgement.kind === 'wrong' && judgement.of, 'request');
    });

  test('finds another verdict', () => {
    assert.equal(judged('200', { probe: { isSuccess: false }, notes: statuses }).kind, 'wrong');
    assert.equal(judged('500', { probe: { isSuccess: false } }).kind, 'wrong');
    assert.equal(judged('500', { command: { isSuccess: false }, notes: statuses }).kind, 'wrong');
    const declared = judged('500', { probe: { isSuccess: false }, notes: statuses });
    assert.deepEqual(declared, { kind: 'declared', differences: ['statuses'] });
  });
});

test('a command that no handler asks has no probe', () => {
  const converted = convertedProbe({
    form: 'pod',
    tool: 'curl',
    written: ['curl', '-d', 'a', 'http://localhost:80/'],
    command: [],
  });
  assert.equal(converted.kind, 'stays');
});
