/** The `package.json` of the npm package; `npm run e2e:package` uses what it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { packageManifest, type RepositoryManifest } from '../../package/manifest.ts';
import { isForUsers, packageReadme, withoutOthersLinks } from '../../package/readme.ts';

const repository: RepositoryManifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

test('it depends on what the code imports, at the locked versions, and on no tool', () => {
  const { dependencies, ...rest } = packageManifest(repository, new Set(['zod', 'hono', 'aws-cdk-lib', 'constructs']));
  const { hono, zod } = repository.dependencies;
  assert.deepEqual(dependencies, { hono, zod });
  assert.ok(!('devDependencies' in rest) && !('optionalDependencies' in rest) && !('private' in rest));
});

test('what the AWS SDK depends on by ranges is shared with it', () => {
  const { dependencies } = packageManifest(repository, new Set(['@smithy/core', '@aws-sdk/client-sqs']));
  assert.deepEqual(dependencies, {
    '@aws-sdk/client-sqs': repository.dependencies['@aws-sdk/client-sqs'],
    '@smithy/core': `^${repository.dependencies['@smithy/core']}`,
  });
});

test('the CDK and the library for mail are peers that may be missing, from the tested version on', () => {
  const { peerDependencies, peerDependenciesMeta } = packageManifest(repository, new Set());
  const { 'aws-cdk-lib': library, constructs } = repository.devDependencies;
  const { nodemailer } = repository.dependencies;
  assert.deepEqual(peerDependencies, {
    'aws-cdk-lib': `^${library}`,
    constructs: `^${constructs}`,
    nodemailer: `^${nodemailer}`,
  });
  const optional = { optional: true };
  assert.deepEqual(peerDependenciesMeta, { 'aws-cdk-lib': optional, constructs: optional, nodemailer: optional });
});

test('an import of what users do not get stops the build', () => {
  const imported = new Set(['zod', 'esbuild', 'knip']);
  assert.throws(() => packageManifest(repository, imported), /^Error: the package imports esbuild, knip: add/);
});

test('the links of the README are right from the root of the package', () => {
  const document = '[a](api.md#likely) [b](../SECURITY.md) [c](https://example.com/x) [d](#make-it)';
  const readme = '[a](docs/api.md#likely) [b](SECURITY.md) [c](https://example.com/x) [d](#make-it)';
  assert.equal(packageReadme(document), readme);
});

test('documents for those who change probelet are left out, and so are links to them', () => {
  const paths = ['/a/docs/adr', '/a/docs/adr/README.md', '/a/docs/maintaining.md', '/a/docs/api.md', '/a/docs'];
  assert.deepEqual(paths.filter(isForUsers), ['/a/docs/api.md', '/a/docs']);
  const document = '[13](adr/a.md), [x](api.md#b), [m](maintaining.md#c), [r](docs/adr/README.md)';
  assert.equal(withoutOthersLinks(document), '13, [x](api.md#b), m, r');
});
