/** `probelet edit` with editors that are scripts: what they are shown, and what comes of what they write. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { servedWorld } from './served.ts';

const path = '/v1/namespaces/default/targets/web';

type Stored = {
  readonly metadata: { readonly resourceVersion: string; readonly labels: object };
  readonly spec: {
    readonly containers: readonly { readonly readinessProbe: { readonly tcpSocket: { readonly port: number } } }[];
  };
};

/** `script`: what the editor does to the file $1; $2 counts its calls. It keeps copies of what it is shown. */
async function editing(t: TestContext, script: string) {
  const { world, run } = await servedWorld();
  const spec = { host: '10.0.0.1', readinessProbe: { tcpSocket: { port: 80 } } };
  await world.expect(201, 'PUT', path, { metadata: { labels: { of: 'web' } }, spec });
  const folder = temporaryFolder(t);
  const editor = join(folder, 'editor');
  const copy = `calls=$(ls '${folder}' | grep -c '^shown'); cp "$1" '${folder}'/shown$calls; set -- "$1" $calls`;
  writeFileSync(editor, `#!/bin/sh\n${copy}\n${script}\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH ?? '', EDITOR: editor };
  return {
    world,
    edit: (...args: readonly string[]) => run(['edit', ...args], { env }),
    withEnv: (more: Readonly<Record<string, string>>) => run(['edit', 'target/web'], { env: { ...env, ...more } }),
    shown: (call: number) => readFileSync(join(folder, `shown${call}`), 'utf8'),
    isShown: () => existsSync(join(folder, 'shown0')),
    stored: async () => (await world.ask<Stored>('GET', path)).body,
    port: async () => {
      const { body } = await world.ask<Stored>('GET', path);
      return body.spec.containers[0]?.readinessProbe.tcpSocket.port;
    },
  };
}

const portTo = (port: number) => `sed -i 's/port: [0-9]*/port: ${port}/' "$1"`;

test('what a client decides is shown, and stored once it is changed', async (t) => {
  const { edit, shown, stored, port } = await editing(t, portTo(81));
  assert.deepEqual(await edit('target/web'), { code: 0, out: 'target/web edited\n', err: [] });
  assert.equal(await port(), 81);
  assert.match(shown(0), /^# Lines that begin with '#' are ignored/);
  const { metadata, spec } = parse(shown(0));
  assert.deepEqual(metadata, { namespace: 'default', name: 'web', labels: { of: 'web' }, annotations: {} });
  assert.equal(spec.host, '10.0.0.1');
  assert.equal((await stored()).metadata.resourceVersion, '2');
});

test('a text that is unchanged or empty cancels', async (t) => {
  const same = await editing(t, 'true');
  assert.equal((await same.edit('target', 'web')).out, 'Edit cancelled, no changes made.\n');
  const comment = await editing(t, 'echo "# well" >> "$1"; sed -i "s/host: 10/host:   10/" "$1"');
  assert.equal((await comment.edit('target', 'web')).out, 'Edit cancelled, no changes made.\n');
  const empty = await editing(t, 'echo "# nothing" > "$1"');
  assert.equal((await empty.edit('target/web')).out, 'Edit cancelled, saved file was empty.\n');
  for (const { stored } of [same, comment, empty]) assert.equal((await stored()).metadata.resourceVersion, '1');
});

test('a text that is refused is shown again with the reasons, until it is right', async (t) => {
  const script = `case $2 in
    0) ${portTo(0)};;
    1) sed -i 's/name: web/name: other/' "$1"; ${portTo(81)};;
    2) echo ': : {' >> "$1";;
    3) sed -i 's/^: : {//; s/name: other/name: web/' "$1";;
  esac`;
  const { edit, shown, port } = await editing(t, script);
  assert.deepEqual(await edit('target/web'), { code: 0, out: 'target/web edited\n', err: [] });
  assert.match(shown(1), /^# error: spec\.containers\[0\]\.readinessProbe\.tcpSocket\.port must be /m);
  assert.match(shown(2), /^# error: must be the one target web of namespace default$/m);
  assert.match(shown(3), /^# error: /m);
  assert.equal(await port(), 81);
});

test('a refused text that stays so is kept', async (t) => {
  const { edit, port } = await editing(t, portTo(0));
  const { code, out, err } = await edit('target/web');
  assert.deepEqual([code, out, err.length], [1, '', 1]);
  const [, file = ''] =
    /^error: edit cancelled, the text is refused: spec\..*; your text is in (\S+)$/.exec(err[0] ?? '') ?? [];
  assert.ok(existsSync(file));
  rmSync(dirname(file), { recursive: true });
  assert.equal(await port(), 80);
});

test('a change of another program in the meantime is not overwritten', async (t) => {
  const done = join(temporaryFolder(t), 'done');
  const wait = `while [ ! -e '${done}' ]; do sleep 0.05; done`;
  const { edit, world, stored, isShown } = await editing(t, `${wait}; ${portTo(81)}`);
  const edited = edit('target/web');
  await until('the editor is open', 10_000, isShown);
  await world.expect(200, 'PATCH', path, { metadata: { labels: { of: 'another' } } });
  writeFileSync(done, '');
  const { code, err } = await edited;
  const [, file = ''] = /^error: target\/web has changed meanwhile: your text is in (\S+)$/.exec(err[0] ?? '') ?? [];
  assert.equal(code, 1, err[0]);
  assert.match(readFileSync(file, 'utf8'), /port: 81/);
  rmSync(dirname(file), { recursive: true });
  assert.deepEqual((await stored()).metadata.labels, { of: 'another' });
});

test('an editor that fails, and a target that is not there, are errors', async (t) => {
  const { edit, withEnv, world } = await editing(t, 'true');
  assert.equal((await edit('target/none')).code, 4);
  assert.equal((await edit('target', 'a', 'b')).code, 2);
  assert.equal((await edit('target')).code, 2);
  const { code, err } = await withEnv({ VISUAL: 'false' });
  assert.deepEqual([code, err], [1, ["error: the editor 'false' ended with 1: VISUAL and EDITOR name another"]]);
  assert.equal((await world.ask<Stored>('GET', path)).body.metadata.resourceVersion, '1');
});
