/**
 * IAM decides by the path of the request and by its route. What is served is that path and that route, however the path
 * is spelt: API Gateway may hand a path on as it came or decoded.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { apiFunction } from '../../functions/api/api.ts';
import { functionMetrics } from '../../functions/lambda/metrics.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import { recordingLog } from '../support/recording-log.ts';
import { httpEvent } from './http-events.ts';
import { context } from './invocation.ts';

const authorizer = { iam: { userArn: 'arn:aws:iam::000000000000:user/someone', callerId: 'AID' } };
const body = { spec: { host: 'example.com', readinessProbe: { tcpSocket: { port: 80 } } } };
const route = '/v1/namespaces/{namespace}/targets/{name}';
const [own, other] = ['/v1/namespaces/own/targets/one', '/v1/namespaces/other/targets/one'];

function api() {
  const [clock, random, log] = [systemClock, systemRandom, { ...recordingLog(), begin: () => {} }];
  const metrics = functionMetrics({ service: 'api', stage: 'test', clock, write: () => {} });
  const store = sqliteStore({ path: ':memory:' });
  const bus = inProcessBus({ clock, random, log });
  const handler = apiFunction({ clock, random, log, metrics, store, bus, anonymous: false });
  const call = async (event: object) => {
    const { statusCode, body: text, headers } = await handler(event, context(29_000));
    return { status: statusCode, type: headers['content-type'], body: text };
  };
  return { call, log };
}

type Routed = {
  readonly method?: string;
  readonly template?: string;
  readonly params?: Readonly<Record<string, string>>;
  /** As the request context has it; as `rawPath` unless it says otherwise. */
  readonly seen?: string;
  /** Of the body. */
  readonly type?: string;
};
const ndjson = 'application/x-ndjson';

/** An event whose route is `template`, whatever its path says. */
function routed(path: string, { method = 'GET', template = route, params, seen = path, type }: Routed = {}) {
  const headers = type === undefined ? {} : { 'content-type': type };
  const event = httpEvent(method, path, { authorizer, headers, ...(method === 'PUT' && { body }) });
  const routeKey = `${method} ${template}`;
  const http = { ...event.requestContext.http, path: seen };
  return {
    ...event,
    routeKey,
    ...(params && { pathParameters: params }),
    requestContext: { ...event.requestContext, routeKey, http },
  };
}

describe('a path behind IAM', () => {
  const { call, log } = api();
  before(async () => {
    for (const path of [own, other]) assert.equal((await call(routed(path, { method: 'PUT' }))).status, 201);
  });

  const served: Readonly<Record<string, object>> = {
    'as it is': routed(own, { params: { namespace: 'own', name: 'one' } }),
    'on the default route': httpEvent('GET', own, { authorizer }),
    'of any method': { ...routed(own), routeKey: `ANY ${route}` },
    'with a colon': routed('/v1/targets:apply', { method: 'PUT', template: '/v1/targets:apply', type: ndjson }),
    'of a greedy route': { ...routed(own), routeKey: 'GET /v1/{proxy+}' },
  };
  for (const [name, event] of Object.entries(served))
    test(`is served ${name}`, async () => assert.equal((await call(event)).status, 200));

  const spellings: readonly string[] = [
    // Another spelling of a name that a policy denies by its own.
    '/v1/namespaces/%6fwn/targets/one',
    '/v1/targets%3aapply',
    '/v1/namespaces/own/targets/on%65',
    '/v1/n%61mespaces/own/targets/one',
    '/v1/namespaces/%256fwn/targets/one',
    // Out of the namespace that a policy allows, encoded once, twice, in part, overlong and not at all.
    '/v1/namespaces/own/../other/targets/one',
    '/v1/namespaces/own/%2e%2e/other/targets/one',
    '/v1/namespaces/own/.%2e/other/targets/one',
    '/v1/namespaces/own/%2E./other/targets/one',
    '/v1/namespaces/own/%252e%252e/other/targets/one',
    '/v1/namespaces/own%2f..%2fother/targets/one',
    '/v1/namespaces/own%2F%2e%2e%2Fother/targets/one',
    '/v1/namespaces/own%252F..%252Fother/targets/one',
    '/v1/namespaces/own%5c..%5cother/targets/one',
    '/v1/namespaces/own\\..\\other/targets/one',
    '/v1/namespaces/own/%c0%ae%c0%ae/other/targets/one',
    '/v1/namespaces/own/./targets/one',
    '/v1/namespaces/own/%2e/targets/one',
    // Empty segments and parameters of segments.
    '//v1/namespaces/own/targets/one',
    '/v1//namespaces/own/targets/one',
    '/v1/namespaces/own//targets/one',
    '/v1/namespaces//targets/one',
    `${own}/`,
    `${own}//`,
    `${own};a=b`,
    '/v1/namespaces/own;x/targets/one',
    '/v1/namespaces/own/..;/other/targets/one',
    `${own}%3b`,
    // What ends a path, or is none of it.
    `${own}?x`,
    `${own}#x`,
    `${own}%3fx`,
    `${own}%23x`,
    `${own}%00`,
    `${own}%0a`,
    `${own}%20`,
    `${own}%`,
    `${own}%zz`,
    `${own}\t`,
    `${own}\n`,
    '/v1/namespaces/own/targets/\nother',
    // Other names that some letters become in lower case or in another normal form.
    '/v1/namespaces/OWN/targets/one',
    '/v1/namespaces/ｏｗｎ/targets/one',
    '/v1/namespaces/own/targets/one%E2%80%8B',
    '/v1/namespaces/own/targets/one\u200b',
    // Another host and no path at all.
    '//example.com/v1/namespaces/own/targets/one',
    '/\\example.com/v1/namespaces/own/targets/one',
  ];
  for (const method of ['GET', 'PUT', 'DELETE'])
    for (const path of spellings)
      test(`${method} ${JSON.stringify(path)} is refused`, async () => {
        const answer = await call(routed(path, { method }));
        assert.ok([400, 404, 422].includes(answer.status), `${answer.status} ${answer.body}`);
        assert.equal(answer.type, 'application/problem+json');
        assert.ok(!log.lines.some(({ level }) => level !== 'info'), JSON.stringify(log.lines));
      });

  const elsewhere: Readonly<Record<string, object>> = {
    'another path than IAM saw': routed(other, { seen: own }),
    'a decoded form of what IAM saw': routed(own, { seen: '/v1/namespaces/%6fwn/targets/one' }),
    'another namespace than the route found': routed(other, { params: { namespace: 'own', name: 'one' } }),
    'another name than the route found': routed(own, { params: { namespace: 'own', name: 'two' } }),
    'another route': routed(own, { template: '/v1/targets' }),
    'a route below': routed(`${own}/events`, { template: route }),
    'the open route': routed(own, { template: '/healthz' }),
    'another method than that of the route': { ...routed(own, { method: 'DELETE' }), routeKey: `GET ${route}` },
    'a route that is none': { ...routed(own), routeKey: 'nonsense' },
  };
  for (const [name, event] of Object.entries(elsewhere))
    test(`of ${name} is refused`, async () => {
      const answer = await call(event);
      assert.ok([400, 404].includes(answer.status), `${answer.status} ${answer.body}`);
    });

  test('of the open route does not open another one', async () => {
    const { requestContext, ...event } = routed(own, { template: '/healthz' });
    const { authorizer: _, ...nobody } = requestContext;
    assert.ok([400, 401, 404].includes((await call({ ...event, requestContext: nobody })).status));
  });
});
