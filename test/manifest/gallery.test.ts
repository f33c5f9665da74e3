/** Every file of the galleries becomes exactly what is expected, and the API registers what files become. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, targetPath } from '../api/world.ts';
import { converted, expectedOf, galleryFormats, namesIn, shown } from './gallery.ts';

const filesMin = 12;

for (const format of galleryFormats)
  describe(`${format} files`, () => {
    const names = namesIn(format, '.yaml');

    for (const name of names)
      test(name, () => assert.deepEqual(shown(converted(format, name)), expectedOf(format, name)));

    test('have their expectation, and are enough', () => {
      assert.deepEqual(namesIn(format, '.expected.json'), names);
      assert.ok(names.length >= filesMin, String(names.length));
    });

    test('become targets that the API registers as they are', async () => {
      const conversions = names.map((name) => converted(format, name));
      const targets = conversions.flatMap((each) => (each.kind === 'converted' ? each.targets : []));
      assert.notEqual(targets.length, 0);
      for (const { manifest, namespace, name, spec } of targets) {
        const path = targetPath(name).replace('/default/', `/${namespace}/`);
        const { warning, body } = await apiWorld().expect(201, 'PUT', path, JSON.parse(JSON.stringify(manifest)));
        assert.doesNotMatch(warning ?? '', /not stored/);
        assert.deepEqual(body.spec, JSON.parse(JSON.stringify(spec)));
      }
    });
  });
