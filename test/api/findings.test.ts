/**
 * Likely mistakes in a `Warning` header: one value for each finding. Which mistakes there are is tested in the core.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { adviser } from '../../shared/prober/advice.ts';
import { apiWorld, targetPath, targetsPath } from './world.ts';

const path = targetPath('checkout');
const withProbes = (probes: object) => ({ spec: { host: '10.0.0.1', ...probes } });
const slow = { tcpSocket: { port: 80 }, timeoutSeconds: 20 };
const longer = 'is longer than the period of 10 s, so one slow answer takes the place of the probes after it';
const slowReadiness = `299 - "/spec/containers/0/readinessProbe/timeoutSeconds ${longer}; mend: at most 10, or a longer period"`;

describe('a likely mistake', () => {
  test('is registered all the same, and named with its reason and its mend', async () => {
    const { warning } = await apiWorld().expect(201, 'PUT', path, withProbes({ readinessProbe: slow }));
    assert.equal(warning, slowReadiness);
  });

  test('is named by each registration and change, until it is mended, and never by other requests', async () => {
    const { ask } = apiWorld();
    const body = withProbes({ readinessProbe: slow });
    const rows = [
      ['PUT', `${path}?dryRun=true`, body, slowReadiness],
      ['PUT', path, body, slowReadiness],
      ['PATCH', path, { metadata: { labels: { a: 'b' } } }, slowReadiness],
      ['GET', path, undefined, null],
      ['POST', targetsPath, { ...body, metadata: { name: 'other' } }, slowReadiness],
      ['PUT', path, withProbes({ readinessProbe: { tcpSocket: { port: 80 } } }), null],
      ['DELETE', path, undefined, null],
    ] as const;
    for (const [method, at, sent, expected] of rows)
      assert.equal((await ask(method, at, sent)).warning, expected, method);
  });

  test('is named for each target of a list', async () => {
    type Applied = { readonly items: readonly { readonly warning?: string }[] };
    const items = [
      { metadata: { name: 'a' }, ...withProbes({ readinessProbe: slow }) },
      { metadata: { name: 'b' }, ...withProbes({ readinessProbe: { tcpSocket: { port: 80 } } }) },
    ];
    const { body } = await apiWorld().ask<Applied>('PUT', targetsPath, { apiVersion: 'v1', kind: 'List', items });
    assert.deepEqual(
      body.items.map(({ warning }) => warning?.includes(longer)),
      [true, undefined],
    );
  });

  test('of a probe that can never run is not named: that has to be mended first', async () => {
    const world = apiWorld({ advise: adviser({ dialRefusal: () => 'no' }) });
    const { warning } = await world.ask('PUT', path, withProbes({ readinessProbe: slow }));
    assert.equal(warning, '299 - "/spec/containers/0/readinessProbe cannot run: no"');
  });

  test('is counted beyond six, so that the header is bounded', async () => {
    const containers = Array.from({ length: 20 }, (_, index) => ({
      name: `c${index}`,
      startupProbe: slow,
      livenessProbe: { ...slow, failureThreshold: 1 },
    }));
    const { warning } = await apiWorld().ask('PUT', path, { spec: { host: 'a', containers } });
    assert.equal(warning?.split('", 299 - "').length, 7);
    assert.ok(warning?.endsWith('"34 more findings"'));
    assert.ok(warning.length < 4096);
  });
});
