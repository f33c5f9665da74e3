/** What docs/migrating.md shows: that its manifests are accepted, and that its commands exist and do what they say. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { convertFile } from '../../shared/manifest/convert.ts';
import { apiWorld, targetPath } from '../api/world.ts';
import { ranCli } from '../functions/cli/run.ts';
import { served } from '../functions/cli/served.ts';
import { codeSpansOf, fencesOf, tableRowsOf } from '../support/markdown.ts';
import { recordingLog } from '../support/recording-log.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const markdown = readFileSync(join(import.meta.dirname, '../../docs/migrating.md'), 'utf8');
const fenceOf = (language: string): string => fencesOf(markdown, language)[0] ?? '';

test('endpoints of Gatus become what the document shows, and what has no probe is named', () => {
  const conversion = convertFile({ name: 'gatus.yaml', text: fenceOf('yaml gatus') });
  assert.equal(conversion.kind, 'converted');
  if (conversion.kind !== 'converted') return;
  const [shown] = parseAllDocuments(fenceOf('yaml from-gatus'));
  assert.deepEqual(JSON.parse(JSON.stringify(conversion.targets.map(({ manifest }) => manifest))), [shown?.toJS()]);
  assert.ok(conversion.notes.some(({ what }) => what.includes('CERTIFICATE_EXPIRATION')));
});

test('each other manifest is accepted without a warning', async () => {
  const manifests = fencesOf(markdown, 'yaml target');
  assert.equal(manifests.length, 2);
  for (const [index, text] of manifests.entries()) {
    const yaml = { 'content-type': 'application/yaml' };
    const name = parseAllDocuments(text)[0]?.getIn(['metadata', 'name']);
    const { warning } = await apiWorld().expect(201, 'PUT', targetPath(`${name}`), text, yaml);
    assert.equal(warning, null, `manifest ${index + 1}`);
  }
});

describe('what users of kubectl type', () => {
  const rows = tableRowsOf(markdown)
    .filter(([typed = '']) => typed.startsWith('`kubectl'))
    .map(([typed = '', here = '']) => ({ typed, command: codeSpansOf(here)[0] }));

  test('is listed twenty times at least', () => assert.ok(rows.length >= 20));

  test('does here what the table says', async (t) => {
    const { url, folder } = await serving(t);
    for (const { typed, command } of rows) {
      if (command === undefined) continue;
      const [program, ...words] = command.split(' ');
      assert.equal(program, 'probelet');
      const args = words.map((word, at) => (words[at - 1] === '-f' ? join(folder, word) : word));
      const interrupt = new AbortController();
      const { code, out, err } = await ranCli(args, {
        env: { PROBELET_URL: url, HOME: folder, PATH: process.env.PATH, EDITOR: 'true' },
        clock: systemClock,
        interrupted: () => interrupt.signal,
        onOut: () => interrupt.abort(),
      });
      assert.deepEqual([command, code], [command, 0], err.join('\n'));
      // What was applied before does not differ.
      const isQuiet = command.includes('context') || command.startsWith('probelet diff');
      assert.ok(out !== '' || isQuiet, `${typed}: ${command} prints nothing`);
    }
  });

  test('is answered with a hint where the table has no command', async () => {
    for (const { typed, command } of rows) {
      if (command !== undefined) continue;
      const [, verb = ''] = typed.replaceAll('`', '').split(' ');
      const { code, err } = await ranCli([verb]);
      assert.deepEqual([verb, code], [verb, 2]);
      assert.match(err.join(' '), new RegExp(`there is no command ${verb}: `));
    }
  });
});

/** The product, a target `web` that is ready, and the files that the commands name. */
async function serving(t: TestContext): Promise<{ readonly url: string; readonly folder: string }> {
  const ports = { clock: systemClock, random: systemRandom, log: recordingLog() };
  const runtime = startRuntime({ dataDir: ':memory:' }, ports);
  t.after(() => runtime.stop());
  await runtime.shard.loaded;
  const port = await portOf(
    t,
    listenWith(
      createServer((_, response) => response.end()),
      '127.0.0.1',
    ),
  );
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'targets'));
  const manifest = (name: string) => `
metadata: { name: ${name}, labels: { app: ${name} } }
spec: { host: 127.0.0.1, readinessProbe: { httpGet: { path: /, port: ${port} }, periodSeconds: 1 } }
`;
  writeFileSync(join(folder, 'web.yaml'), manifest('web'));
  writeFileSync(join(folder, 'targets/web.yaml'), manifest('web'));
  writeFileSync(join(folder, 'targets/db.yaml'), manifest('db'));
  const url = await served(runtime.fetch);
  const env = { PROBELET_URL: url, HOME: folder };
  const run = (...args: readonly string[]) => ranCli(args, { env, clock: systemClock });
  assert.equal((await run('apply', '-f', join(folder, 'web.yaml'))).code, 0);
  assert.equal((await run('wait', 'target/web', '--for=condition=Ready')).code, 0);
  return { url, folder };
}
