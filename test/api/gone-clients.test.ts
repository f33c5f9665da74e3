/** What a client had asked for is not made once it has gone. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetPath } from '../support/api-client.ts';
import { apiWorld } from './world.ts';

const count = 60;
const spec = { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 1 } } };

/** Targets, and a request whose client goes after some pieces of work; returns how many were begun. */
async function piecesOf(asked: {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
}) {
  const goesAfter = 3;
  let [pieces, isCounting] = [0, false];
  const gone = new AbortController();
  const world = apiWorld({
    pause: async () => {
      await new Promise(setImmediate);
      if (!isCounting) return;
      pieces += 1;
      if (pieces === goesAfter) gone.abort();
    },
  });
  for (let at = 0; at < count; at += 1) await world.expect(201, 'PUT', targetPath(`t${at}`), { spec });
  isCounting = true;
  const { method, path, body, type = 'application/json' } = asked;
  const sent = { method, signal: gone.signal, ...(body !== undefined && { body, headers: { 'content-type': type } }) };
  const response = await world.app.fetch(new Request(`http://probelet.test${path}`, sent));
  await response.text().catch(() => '');
  return { pieces, goesAfter, world };
}

const manifests = Array.from({ length: count }, (_, at) => ({
  metadata: { namespace: 'default', name: `new-${at}` },
  spec,
}));
const requests = {
  'a list': { method: 'GET', path: '/v1/targets?limit=500' },
  'a sorted list': { method: 'GET', path: '/v1/targets?limit=500&sortBy=name' },
  'a list for HEAD': { method: 'HEAD', path: '/v1/targets?limit=500' },
  'a registration of many': {
    ...{ method: 'PUT', path: '/v1/namespaces/default/targets' },
    body: JSON.stringify({ kind: 'List', items: manifests }),
  },
  'a registration by lines': {
    ...{ method: 'PUT', path: '/v1/targets:apply', type: 'application/x-ndjson' },
    body: manifests.map((each) => JSON.stringify(each)).join('\n'),
  },
};

describe('a client that has gone', () => {
  for (const [name, asked] of Object.entries(requests))
    test(`${name} goes no further`, async () => {
      const { pieces, goesAfter, world } = await piecesOf(asked);
      // Some lines are under way at once.
      const most = goesAfter + (name.includes('lines') ? 64 : 1);
      assert.ok(pieces >= goesAfter && pieces <= most, `${pieces} pieces of work, ${goesAfter} of them before it went`);
      assert.deepEqual(world.log.lines, []);
    });
});
