/** `probelet explain`: every field of the API's schemas, and nothing else, has a meaning. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type FieldSchema,
  fieldMeanings,
  fieldsOf,
  meaningKey,
  targetFields,
} from '../../../functions/cli/printing/explaining.ts';
import { ranCli } from './run.ts';

const pathsIn = (schema: FieldSchema, path: readonly string[] = []): readonly (readonly string[])[] => [
  path,
  ...Object.entries(fieldsOf(schema)).flatMap(([name, field]) => pathsIn(field, [...path, name])),
];

test('each field has a meaning, and each meaning a field', () => {
  const keys = new Set(pathsIn(targetFields()).map(meaningKey));
  assert.deepEqual([...keys].toSorted(), Object.keys(fieldMeanings).toSorted());
});

test('a probe is explained with its fields, types and defaults', async () => {
  const { code, out } = await ranCli(['explain', 'target.spec.containers.readinessProbe']);
  assert.equal(code, 0);
  assert.match(
    out,
    /^KIND: {5}Target\nVERSION: {2}probelet\.dev\/v1\n\nFIELD: readinessProbe <object>\n\nDESCRIPTION:\n {4}Whether/,
  );
  assert.match(out, /\n {2}periodSeconds <integer>\n {4}How often the probe is made\. Default: 10\.\n/);
  assert.match(
    (await ranCli(['explain', 'target.spec.readinessProbe.httpGet'])).out,
    /\n {2}port <integer or string> -required-\n/,
  );
  assert.match((await ranCli(['explain', 'target.spec.lifecycle'])).out, /\n {4}One of static, reported\.\n$/);
});

test('all fields at once are one line each', async () => {
  const { out } = await ranCli(['explain', 'target.status', '--recursive']);
  assert.match(out, /\n {2}conditions <\[\]object>\n {4}type <string> -required-\n/);
});

describe('a field that there is not', () => {
  for (const [path, line] of [
    ['target.spec.hots', "error: target.spec has no field hots: did you mean host? See 'probelet explain --help'."],
    ['pod.spec', "error: pod must be target, as in target.spec.host. See 'probelet explain --help'."],
    ['target.spec.host.x', "error: target.spec.host has no field x: it has no fields. See 'probelet explain --help'."],
  ] as const)
    test(path, async () => assert.deepEqual(await ranCli(['explain', path]), { code: 2, out: '', err: [line] }));
});
