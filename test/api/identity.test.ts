/** metadata.uid and metadata.resourceVersion of a body: which target, in which state, the client means. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { targetPath } from '../support/api-client.ts';
import { testsIn } from '../support/tests-in.ts';
import { apiWorld, inWorld, losingStore, manifest, registered as registeredWorld, targetsPath } from './world.ts';

const path = targetPath('checkout');
const target = { apiVersion: 'probelet.dev/v1', kind: 'Target' };
const pod = { apiVersion: 'v1', kind: 'Pod' };

/** A target whose resourceVersion is 2. */
async function registered() {
  const world = await registeredWorld(manifest('127.0.0.2'));
  const { metadata } = (await world.expect(200, 'PUT', path, manifest())).body;
  return { world, metadata };
}

/** Bodies that change the target, for each method that takes one. */
const changes = [
  ['PUT', { ...target, ...manifest('127.0.0.3') }],
  ['PUT', manifest('127.0.0.3')],
  ['PATCH', { spec: { host: '127.0.0.3' } }],
  ['PATCH', { ...target, spec: { host: '127.0.0.3' } }],
] as const;

const inRegistered = testsIn(() => registered());

describe('a body that names the stored uid and resourceVersion', () => {
  for (const [method, change] of changes)
    test(`of a ${method} ${'kind' in change ? 'with' : 'without'} kind is done, without a warning`, async () => {
      const { world, metadata } = await registered();
      const { uid, resourceVersion } = metadata;
      const sent = { ...change, metadata: { uid, resourceVersion } };
      const { warning, body } = await world.expect(200, method, path, sent);
      assert.equal(warning, null);
      assert.partialDeepStrictEqual(body, { metadata: { uid, resourceVersion: '3' } });
    });

  inRegistered('may be what GET has answered', async ({ world }) => {
    const { status: _, ...shown } = (await world.ask<Record<string, unknown>>('GET', path)).body;
    const { warning } = await world.expect(200, 'PUT', path, shown);
    const notStored = 'metadata.generation, metadata.creationTimestamp';
    assert.equal(warning, `299 - "not stored, does not concern probing: ${notStored}"`);
  });
});

describe('a body that names another uid or resourceVersion', () => {
  for (const [method, change] of changes)
    for (const dryRun of ['', '?dryRun=true'])
      test(`of a ${method}${dryRun} ${'kind' in change ? 'with' : 'without'} kind is 409 and changes nothing`, async () => {
        const { world, metadata } = await registered();
        const before = await world.items('checkout');
        const sent = { ...change, metadata: { uid: 'another', resourceVersion: '1' } };
        const { body } = await world.expect(409, method, `${path}${dryRun}`, sent);
        assert.equal(body.type, 'urn:probelet:problem:conflict');
        assert.deepEqual(body.errors, [
          { pointer: '/metadata/uid', detail: `is "another", but "${metadata.uid}" is stored` },
          { pointer: '/metadata/resourceVersion', detail: 'is "1", but "2" is stored' },
        ]);
        assert.deepEqual(await world.items('checkout'), before);
      });

  inRegistered('is 409 also where nothing else would change', ({ world }) =>
    world.expect(409, 'PUT', path, { ...manifest(), metadata: { resourceVersion: '1' } }),
  );

  inWorld('and that creates is 409, since nothing is stored', async (world) => {
    for (const [field, value] of Object.entries({ uid: 'one', resourceVersion: '1' })) {
      const sent = { ...target, ...manifest(), metadata: { name: 'checkout', [field]: value } };
      const expected = [{ pointer: `/metadata/${field}`, detail: `is "${value}", but there is no such target` }];
      for (const [method, at] of Object.entries({ PUT: path, POST: targetsPath }))
        assert.deepEqual((await world.expect(409, method, at, sent)).body.errors, expected, method);
    }
    assert.equal(await world.everything(), 0);
  });

  inWorld('and patches what does not exist is 404', (world) =>
    world.expect(404, 'PATCH', path, { metadata: { uid: 'x' } }),
  );
});

describe('a uid and resourceVersion', () => {
  inWorld('of a Pod are those of a cluster: ignored, and named in the warning', async (world) => {
    const body = { ...pod, ...manifest(), metadata: { uid: 'of-a-cluster', resourceVersion: '77' } };
    const answers = [
      await world.expect(201, 'PUT', path, body),
      await world.expect(200, 'PUT', path, body),
      await world.expect(200, 'PATCH', path, { ...body, spec: { host: '127.0.0.9' } }),
    ];
    for (const { warning } of answers) assert.match(warning ?? '', /metadata\.uid, metadata\.resourceVersion/);
    await world.expect(201, 'POST', targetsPath, { ...body, metadata: { ...body.metadata, name: 'other' } });
  });

  inRegistered('that are empty or null are absent', async ({ world }) => {
    for (const absent of ['', null])
      await world.expect(200, 'PUT', path, { ...manifest(), metadata: { uid: absent, resourceVersion: absent } });
  });

  inRegistered('that are no strings are 422', async ({ world }) => {
    for (const [method] of changes) {
      const sent = { ...manifest(), metadata: { uid: {}, resourceVersion: 2 } };
      assert.deepEqual((await world.expect(422, method, path, sent)).body.errors, [
        { pointer: '/metadata/uid', detail: 'must be a string' },
        { pointer: '/metadata/resourceVersion', detail: 'must be a string' },
      ]);
    }
  });
});

describe('a write whose answer of the store was lost', () => {
  const conditions = {
    'with If-Match': { headers: { 'if-match': '"1"' }, metadata: {} },
    'with its resourceVersion': { headers: {}, metadata: { resourceVersion: '1' } },
  };
  for (const [what, { headers, metadata }] of Object.entries(conditions))
    test(`is done, and not refused for what it changed itself, ${what}`, async () => {
      const { lost, wrapStore } = losingStore();
      const answerToLost = async (status: number, method: string, change?: object) => {
        const world = apiWorld({ wrapStore });
        lost.next = false;
        await world.expect(201, 'PUT', path, manifest());
        lost.next = true;
        return world.expect(status, method, path, change, headers);
      };
      for (const [method, change] of changes) {
        assert.equal((await answerToLost(200, method, { ...change, metadata })).etag, '"2"');
        assert.equal(lost.next, false);
      }
      await answerToLost(202, 'DELETE');
    });
});
