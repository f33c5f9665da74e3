/** A link in the place of a file of targets: what it leads to outside of the folder is not quoted in the log. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { parseAllDocuments } from 'yaml';
import { configSources } from '../../../functions/local/config/config-sources.ts';
import { type Converter, targetConverter } from '../../../functions/local/threads/converter.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { eachHostile } from '../../support/hostile-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const secret = 'S3CRET-VALUE-0123456789';
const { signal } = new AbortController();

const written: readonly string[] = [
  secret,
  `password: ${secret}\n`,
  `TOKEN=${secret}\nOTHER=1\n`,
  `a: *${secret}\n`,
  `a: !${secret} 1\n`,
  `%${secret} x\n---\na: 1\n`,
  `"${secret}`,
  `? ${secret}\n: 1\n? ${secret}\n: 2\n`,
  `{"${secret}": 1, "${secret}": 2}`,
  `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`,
  `apiVersion: ${secret}\nkind: ${secret}\n`,
  `services: { a: { labels: { probelet.${secret}: 1 } } }`,
];

/** Where the link leads to changes all the time. */
const swapping = `
  const { renameSync, symlinkSync } = require('node:fs');
  const { link, outside } = require('node:worker_threads').workerData;
  for (;;)
    for (const place of [outside, '../inside.yaml']) {
      symlinkSync(place, link + '.new');
      renameSync(link + '.new', link);
    }
`;

const examples = join(import.meta.dirname, '../../../examples');

/** Each text and name of the examples in turn is the secret. */
const changedExamples = (): readonly string[] =>
  readdirSync(examples)
    .filter((name) => /\.ya?ml$/.test(name))
    .flatMap((name) => parseAllDocuments(readFileSync(join(examples, name), 'utf8')))
    .flatMap((document) => [...eachHostile(document.toJS(), secret)].map((value) => JSON.stringify(value)));

function converterFor(t: TestContext): Converter {
  const converter = targetConverter(systemClock);
  t.after(() => converter.close());
  return converter;
}

/** What may be logged of the one file that the pattern finds: errors, and what is left out. */
async function loggedOf(folder: string, converter: Converter): Promise<string> {
  const { files } = await configSources(folder, [{ files: ['t/*.yaml'] }]);
  const [{ name, path, folders } = { name: '', path: '', folders: [] }] = files;
  const read = await converter.convert({ name, path, folders }, signal);
  return JSON.stringify(read.kind === 'read' ? [read.tally.leftOut, read.leftOut] : read.errors);
}

test('nothing of a file that a link out of the folder leads to is quoted', { timeout: 120_000 }, async (t) => {
  const converter = converterFor(t);
  const folder = temporaryFolder(t);
  const outside = join(temporaryFolder(t), 'secret');
  mkdirSync(join(folder, 't'));
  symlinkSync(outside, join(folder, 't/a.yaml'));
  for (const text of [...written, ...changedExamples()]) {
    writeFileSync(outside, text);
    const logged = await loggedOf(folder, converter);
    assert.ok(!logged.includes(secret), `${text}\n${logged}`);
  }
});

test('nor of one that a link leads to only while it is read', { timeout: 120_000 }, async (t) => {
  const converter = converterFor(t);
  const folder = temporaryFolder(t);
  const outside = join(temporaryFolder(t), 'secret');
  writeFileSync(outside, `a: *${secret}\n`);
  mkdirSync(join(folder, 't'));
  writeFileSync(join(folder, 'inside.yaml'), 'metadata: {}\n');
  symlinkSync('../inside.yaml', join(folder, 't/a.yaml'));
  const swaps = new Worker(swapping, { eval: true, workerData: { link: join(folder, 't/a.yaml'), outside } });
  let isLedOut = 0;
  try {
    for (let read = 0; read < 5_000 && isLedOut < 50; read += 1) {
      const asked = { name: 't/a.yaml', path: join(folder, 't/a.yaml'), folders: [folder] };
      const answer = JSON.stringify(await converter.convert(asked, signal));
      assert.ok(!answer.includes(secret), `at read ${read}: ${answer}`);
      if (answer.includes('a link out of its folder')) isLedOut += 1;
    }
  } finally {
    // Before its folder is removed.
    await swaps.terminate();
  }
  assert.equal(isLedOut, 50);
});

test('a link within the folder, as a mount has it, is quoted as a file is', async (t) => {
  const converter = converterFor(t);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 't/..2030_01_01'), { recursive: true });
  symlinkSync('..2030_01_01', join(folder, 't/..data'));
  symlinkSync('..data/a.yaml', join(folder, 't/a.yaml'));
  const text = `services: { a: { labels: { probelet.${secret}: 1 } } }`;
  writeFileSync(join(folder, 't/..data/a.yaml'), text);
  const linked = await loggedOf(folder, converter);
  assert.match(linked, new RegExp(secret));
  rmSync(join(folder, 't/a.yaml'));
  writeFileSync(join(folder, 't/a.yaml'), text);
  assert.equal(await loggedOf(folder, converter), linked);
});
