import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiFunction } from '../../functions/api/api.ts';
import { decodeHttpEvent } from '../../functions/api/http-event.ts';
import { functionLog } from '../../functions/lambda/log.ts';
import { functionMetrics } from '../../functions/lambda/metrics.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { recordingLog } from '../support/recording-log.ts';
import { httpEvent } from './http-events.ts';
import { context } from './invocation.ts';

const iam = { iam: { userArn: 'arn:aws:iam::000000000000:user/someone', callerId: 'AID' } };
const target = '/v1/namespaces/default/targets/checkout';
const manifest = { spec: { host: 'example.com', readinessProbe: { tcpSocket: { port: 80 } } } };

function api(anonymous = false) {
  const lines: string[] = [];
  const log = functionLog({ service: 'api', write: (line) => lines.push(line), nowMs: Date.now });
  const metrics = functionMetrics({ service: 'api', stage: 'test', clock: systemClock, write: () => {} });
  const [clock, random] = [systemClock, systemRandom];
  const bus = inProcessBus({ clock, random, log: recordingLog() });
  const store = sqliteStore({ path: ':memory:' });
  const handler = apiFunction({ clock, random, log, metrics, store, bus, anonymous });
  const call = async (event: unknown) => {
    const answer = await handler(event, context(29_000));
    return {
      ...answer,
      get json() {
        return JSON.parse(answer.body);
      },
    };
  };
  return { call, logged: () => lines.map((line): Record<string, unknown> => JSON.parse(line)) };
}

function decoded(event: unknown) {
  const answer = decodeHttpEvent(event);
  assert.ok(answer.kind === 'request', JSON.stringify(answer));
  return answer;
}

describe('an event of an HTTP API', () => {
  test('is the request that was made', async () => {
    const sent = { body: manifest, query: 'a=1&b=%20', headers: { 'if-match': '"3"' } };
    const { request } = decoded(httpEvent('PUT', target, sent));
    assert.equal(request.url, `https://api.example.com${target}?a=1&b=%20`);
    assert.equal(request.method, 'PUT');
    assert.equal(request.headers.get('if-match'), '"3"');
    assert.deepEqual(await request.json(), manifest);
  });

  test('may carry its body in base64', async () => {
    const body = Buffer.from('spec: { host: ü }').toString('base64');
    const { request } = decoded({ ...httpEvent('PUT', target, { body }), isBase64Encoded: true });
    assert.equal(await request.text(), 'spec: { host: ü }');
  });

  test('says who calls', () => {
    const callerOf = (authorizer?: object) =>
      decoded(httpEvent('GET', '/', { ...(authorizer && { authorizer }) })).caller;
    assert.equal(callerOf(iam), iam.iam.userArn);
    assert.equal(callerOf({ jwt: { claims: { sub: 'me' }, scopes: null } }), 'me');
    assert.equal(callerOf({ lambda: { any: 'thing' } }), 'authorizer');
    assert.equal(callerOf({}), undefined);
    assert.equal(callerOf(), undefined);
  });

  const good = httpEvent('GET', '/healthz');
  const ofMethod = (http: object) => ({ ...good, requestContext: { ...good.requestContext, http } });
  const malformed: Readonly<Record<string, unknown>> = {
    nothing: undefined,
    'a text': 'text',
    'an empty object': {},
    'an event of a REST API': { ...good, version: '1.0' },
    'one without a method': ofMethod({}),
    'one with a method that HTTP forbids': ofMethod({ method: 'TRACE' }),
    'one with a path that is none': { ...good, rawPath: 'healthz' },
    'one with a header that is none': { ...good, headers: { 'a b': 'c' } },
    'an event of a queue': { Records: [] },
  };
  for (const [name, event] of Object.entries(malformed))
    test(`${name} is logged once and answered with a problem`, async () => {
      const { call, logged } = api();
      const { statusCode, headers, json } = await call(event);
      assert.deepEqual([statusCode, headers['content-type'], json.status], [400, 'application/problem+json', 400]);
      const said = logged().map(({ level, message }) => `${level} ${message}`);
      assert.deepEqual(said, ['ERROR malformed event']);
    });
});

describe('the API behind an HTTP API', () => {
  test('serves who was asked for a name, and notes who changed what', async () => {
    const { call, logged } = api();
    assert.equal((await call(httpEvent('PUT', target, { body: manifest, authorizer: iam }))).statusCode, 201);
    assert.equal((await call(httpEvent('GET', target, { authorizer: iam }))).json.metadata.name, 'checkout');
    const [line, ...others] = logged();
    assert.deepEqual(others, []);
    const request = { message: 'request', caller: iam.iam.userArn, method: 'PUT', path: target, status: 201 };
    assert.partialDeepStrictEqual(line, { ...request, function_request_id: 'request-1', cold_start: true });
  });

  test('refuses a request without an authorized caller, but for /healthz', async () => {
    const { call } = api();
    for (const [method, path] of [
      ['GET', target],
      ['PUT', target],
      ['GET', '/openapi.json'],
      ['GET', '/v1/targets'],
    ] as const)
      assert.equal((await call(httpEvent(method, path))).statusCode, 401, `${method} ${path}`);
    assert.equal((await call(httpEvent('GET', '/healthz'))).json.status, 'ok');
    // Whatever was allowed in front of it.
    const spellings = ['/healthz/', '//healthz', '/healthz%2f', '/healthz?x'];
    const detours = ['/healthz/../v1/targets', '/v1/targets/../../healthz', '/healthz/%2e%2e/v1/targets'];
    for (const path of [...spellings, ...detours])
      assert.equal((await call(httpEvent('GET', path))).statusCode, 400, path);
  });

  test('answers lines as a whole, as the body comes as a whole', async () => {
    const { call } = api(true);
    const lines = [{ metadata: { namespace: 'a', name: 'b' }, ...manifest }, {}].map((line) => JSON.stringify(line));
    const body = Buffer.from(lines.join('\n')).toString('base64');
    const headers = { 'content-type': 'application/x-ndjson' };
    const event = { ...httpEvent('PUT', '/v1/targets:apply', { body, headers }), isBase64Encoded: true };
    const answer = await call(event);
    assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'application/x-ndjson']);
    const statuses = answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).status);
    assert.deepEqual(statuses, [201, 422]);
  });

  test('answers problems as problems', async () => {
    const { call } = api(true);
    const { statusCode, headers, isBase64Encoded } = await call(httpEvent('PUT', target, { body: '{' }));
    assert.deepEqual([statusCode, headers['content-type'], isBase64Encoded], [400, 'application/problem+json', false]);
    assert.equal((await call(httpEvent('GET', '/metrics'))).statusCode, 404);
    assert.equal((await call(httpEvent('GET', '/v1/watch'))).statusCode, 404);
  });
});
