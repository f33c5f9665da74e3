import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tableRowsOf } from '../support/markdown.ts';
import { runPods } from './pods.ts';
import { acceptingRules, type Json, mendedManifest, rules } from './pods-rules.ts';

const probed = (
  probe: { readonly [field: string]: Json },
  container: { readonly [field: string]: Json } = {},
): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', annotations: { 'probelet.dev/host': '127.0.0.1' } },
  spec: { containers: [{ name: 'main', image: 'x', livenessProbe: probe, ...container }] },
});
const http = (fields: { readonly [field: string]: Json }): Json => probed({ httpGet: { port: 80, ...fields } });
const header = (name: string, value: string): Json => http({ httpHeaders: [{ name, value }] });
const tcp = { tcpSocket: { port: 80 } };

describe('a difference explains', () => {
  const cases: readonly (readonly [what: string, manifest: Json, ...numbers: number[]])[] = [
    ['nothing of a plain Pod', probed(tcp)],
    ['a period over an hour', probed({ ...tcp, periodSeconds: 3601 }), rules.limits],
    ['nothing of a period of an hour', probed({ ...tcp, periodSeconds: 3600 })],
    ['nothing of a period of 0', probed({ ...tcp, periodSeconds: 0 })],
    ['a long path', http({ path: `/${'x'.repeat(2048)}` }), rules.limits],
    ['21 headers', http({ httpHeaders: Array.from({ length: 21 }, () => ({ name: 'X', value: '' })) }), rules.limits],
    ['a literal secret', header('authorization', 'Bearer x'), rules.secrets],
    ['nothing of a reference', header('Authorization', 'env:TOKEN')],
    ['nothing of an empty secret', header('Cookie', '')],
    ['a header of the connection', header('Upgrade', 'x'), rules.connectionHeaders],
    ['nothing of a header name that Kubernetes takes', header('X-Upgrade', 'x')],
    ['user info in a path', http({ path: '//u@h/' }), rules.paths],
    ['a line break in a path', http({ path: '/a\nb' }), rules.paths],
    ['nothing of an @ in a path', http({ path: '/a@b' })],
    [
      'two things at once',
      http({ path: '/\r', httpHeaders: [{ name: 'TE', value: '' }] }),
      rules.connectionHeaders,
      rules.paths,
    ],
  ];
  for (const [what, manifest, ...numbers] of cases)
    test(what, () => assert.deepEqual(mendedManifest(manifest).numbers, numbers));
});

describe('a manifest that Kubernetes refuses is accepted', () => {
  const cases: readonly (readonly [what: string, error: string, fields: readonly string[], ...numbers: number[]])[] = [
    [
      'for a wrong value under a dropped field',
      'Pod "p" is invalid: …',
      ['spec.containers[0].image'],
      rules.droppedFields,
    ],
    ['not for another wrong value beside it', 'Pod "p" is invalid: …', ['spec.containers[0].image', 'metadata.name']],
    ['not where the fields are not known', 'Pod "p" is invalid: …', []],
    ['for an unknown field of the status', 'strict: unknown field "status.foo"', [], rules.droppedFields],
    ['not for an unknown field of a probe', 'strict: unknown field "spec.containers[0].livenessProbe.foo"', []],
    ['not for a field whose name begins like a dropped one', 'strict: unknown field "spec.hostname2"', []],
    [
      'for a wrong type under a dropped field',
      'decode: json: cannot unmarshal string into Go struct field ObjectMeta.metadata.generation of type int64',
      [],
      rules.droppedFields,
    ],
    [
      'not for a wrong type of a port',
      'decode: json: cannot unmarshal bool into Go struct field TCPSocketAction.spec.containers.livenessProbe.ProbeHandler.tcpSocket.port of type int32',
      [],
    ],
    ['not for another kind', 'kind/apiVersion', []],
  ];
  for (const [what, error, errorFields, ...numbers] of cases)
    test(what, () =>
      assert.deepEqual(acceptingRules({ manifest: probed(tcp), errors: [error], errorFields }), numbers),
    );

  test('for a missing kind and version', () => {
    const errors = ['kind/apiVersion'];
    assert.deepEqual(acceptingRules({ manifest: { spec: {} }, errors, errorFields: [] }), [rules.withoutKind]);
    assert.deepEqual(acceptingRules({ manifest: { kind: '' }, errors, errorFields: [] }), []);
  });
});

describe('the runner', () => {
  test('names the rules of a refusal', () => {
    const found = runPods({ name: 'x', manifest: probed({ ...tcp, timeoutSeconds: 61 }), accepted: true });
    assert.deepEqual(found, { kind: 'byRule', rules: [rules.limits] });
  });

  test('excuses no refusal that the rules do not explain to the end', () => {
    const manifest = probed({ ...tcp, timeoutSeconds: 61, foo: 1 });
    assert.match(String(runPods({ name: 'x', manifest, accepted: true })), /unknown field/);
  });

  test('reports a manifest that should have been refused', () => {
    const errors = ['Pod "p" is invalid: metadata.name: Required value'];
    const found = runPods({ name: 'x', manifest: probed(tcp), errors, errorFields: ['metadata.name'] });
    assert.match(String(found), /^accepted; Kubernetes refuses/);
  });

  test('compares what is stored with Kubernetes’ defaults', () => {
    const defaulted = { restartPolicy: 'Never', terminationGracePeriodSeconds: 30, containers: [] };
    assert.match(String(runPods({ name: 'x', manifest: probed(tcp), accepted: true, defaulted })), /^spec/);
  });
});

test('every number of the runner is a row of docs/semantics.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/semantics.md'), 'utf8');
  const rows = tableRowsOf(text).filter((row) => (row[2] ?? '').includes('](adr/'));
  const documented = new Set(
    rows.filter((row) => (row.at(-1) ?? '').includes('pods.jsonl')).map(([number]) => Number(number)),
  );
  assert.deepEqual(
    [...documented].sort((a, b) => a - b),
    Object.values(rules).sort((a, b) => a - b),
  );
});
