/**
 * Compose's schema takes numbers and booleans as texts, too: both give the same target. What each field says is of
 * Compose's schema and of the library that reads its files (compose-spec/compose-go); the durations are as its parser
 * and Go's `time.ParseDuration` answered.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { convertFile } from '../../shared/manifest/convert.ts';
import { durationSeconds } from '../../shared/manifest/duration.ts';

/** Text, of `time.ParseDuration`, of Compose. */
const durations: readonly (readonly [string, number | undefined, number | undefined])[] = [
  ['30s', 30, 30],
  ['1m30s', 90, 90],
  ['1.5h', 5400, 5400],
  ['250ms', 0.25, 0.25],
  ['1h2m3s4ms', 3723.004, 3723.004],
  ['0', 0, 0],
  ['0s', 0, 0],
  ['+0', 0, 0],
  ['-0', 0, 0],
  ['+5s', 5, 5],
  ['.5s', 0.5, 0.5],
  ['1.s', 1, 1],
  ['1ns', 1e-9, 1e-9],
  ['100us', 0.0001, 0.0001],
  ['100µs', 0.0001, 0.0001],
  ['100μs', 0.0001, 0.0001],
  ['00001s', 1, 1],
  ['1s'.repeat(9), 9, 9],
  ['9223372036s', 9223372036, 9223372036],
  ['1d', undefined, 86400],
  ['1w2d', undefined, 777600],
  ['2.5d', undefined, 216000],
  ['1d12h', undefined, 129600],
  ['0d', undefined, 0],
  ['', undefined, undefined],
  ['30', undefined, undefined],
  ['1s ', undefined, undefined],
  ['1 s', undefined, undefined],
  ['s', undefined, undefined],
  ['.s', undefined, undefined],
  ['1S', undefined, undefined],
  ['1D', undefined, undefined],
  ['1y', undefined, undefined],
  ['1h-1m', undefined, undefined],
  ['1e3s', undefined, undefined],
  ['1_0s', undefined, undefined],
  ['++1s', undefined, undefined],
  ['99999999999h', undefined, undefined],
];

for (const [text, go, compose] of durations)
  test(`duration ${JSON.stringify(text)}`, () => {
    const seconds = (value: number | undefined) => value?.toFixed(9);
    assert.equal(seconds(durationSeconds(text)), seconds(go));
    assert.equal(seconds(durationSeconds(text, 'compose')), seconds(compose));
  });

test('negative durations are none of a probe', () => {
  for (const text of ['-1s', '-1d']) assert.equal(durationSeconds(text, 'compose'), undefined);
});

type Field = {
  readonly name: string;
  readonly service: (value: unknown) => object;
  readonly values: fc.Arbitrary<number | boolean>;
};

const check = 'curl -f http://localhost:80/';
const common = { ports: ['8080:80'], healthcheck: { test: check } };

const fields: readonly Field[] = [
  {
    name: 'healthcheck.retries',
    service: (retries) => ({ ...common, healthcheck: { test: check, retries } }),
    values: fc.integer({ min: -2, max: 20_000 }),
  },
  {
    name: 'healthcheck.disable',
    service: (disable) => ({ ...common, healthcheck: { test: check, disable } }),
    values: fc.boolean(),
  },
  { name: 'scale', service: (scale) => ({ ...common, scale }), values: fc.integer({ min: -1, max: 50 }) },
  {
    name: 'deploy.replicas',
    service: (replicas) => ({ ...common, deploy: { replicas } }),
    values: fc.integer({ min: -1, max: 50 }),
  },
  {
    name: 'ports[].target',
    service: (target) => ({ ...common, ports: [{ target, published: 8080 }] }),
    values: fc.constantFrom(79, 80, 81),
  },
  {
    name: 'ports[].published',
    service: (published) => ({ ...common, ports: [{ target: 80, published }] }),
    values: fc.integer({ min: 0, max: 65_535 }),
  },
];

function converted(service: object) {
  const file = { name: 'compose.yaml', text: JSON.stringify({ services: { web: service } }) };
  const conversion = convertFile(file, { host: '10.0.0.9' });
  if (conversion.kind === 'invalid') return conversion.errors.map(({ field, detail }) => ({ field, detail }));
  const notes = conversion.notes.map(({ kind, what, reason }) => ({ kind, what, reason }));
  return { targets: conversion.targets.map(({ manifest }) => manifest), notes };
}

describe('a value as text gives the same target', () => {
  for (const { name, service, values } of fields)
    test(name, () =>
      fc.assert(
        fc.property(values, (value) =>
          assert.deepEqual(converted(service(String(value))), converted(service(value)), String(value)),
        ),
        { numRuns: 200 },
      ),
    );
});

/** As `docker compose config` and Docker's documentation say. */
const said: readonly (readonly [string, object, object])[] = [
  ['retries: "10"', { healthcheck: { test: check, retries: '10' } }, { failureThreshold: 10 }],
  ['retries: "0"', { healthcheck: { test: check, retries: '0' } }, { failureThreshold: 3 }],
  ['interval: 0s', { healthcheck: { test: check, interval: '0s', timeout: '0' } }, { periodSeconds: 30 }],
  ['interval: 1h', { healthcheck: { test: check, interval: '1h' } }, { periodSeconds: 3_600 }],
];

for (const [name, service, expected] of said)
  test(`${name} is ${JSON.stringify(expected)}`, () => {
    const result = converted({ ...common, ...service });
    assert.ok('targets' in result);
    const [target] = result.targets as readonly {
      readonly spec: { readonly containers: readonly { readonly readinessProbe: object }[] };
    }[];
    assert.partialDeepStrictEqual(target?.spec.containers[0]?.readinessProbe ?? {}, expected);
  });
