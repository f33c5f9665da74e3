/** What runs probelet, or describes what it probes: examples/compose.yaml, the Dockerfile and the unit of systemd. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { parseOptions } from '../../functions/local/options/options.ts';
import { convertFile } from '../../shared/manifest/convert.ts';
import { apiWorld, targetPath } from '../api/world.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('examples/compose.yaml', () => {
  const text = read('examples/compose.yaml');
  const converted = (options: { readonly host?: string } = {}) => {
    const conversion = convertFile({ name: 'compose.yaml', text }, options);
    assert.equal(conversion.kind, 'converted');
    return conversion.kind === 'converted' ? conversion : { targets: [], notes: [] };
  };

  test('has a target for each service but probelet, which the API accepts without a warning', async () => {
    const { targets, notes } = converted();
    assert.deepEqual(
      targets.map(({ name, spec }) => `${name} at ${spec.host}`),
      ['web at web', 'prices at prices', 'db at db', 'search at search'],
    );
    assert.deepEqual(
      notes.filter(({ kind }) => kind !== 'approximated').map(({ kind, what }) => `${kind}: ${what}`),
      ['leftOut: service probelet'],
    );
    const world = apiWorld();
    for (const { name, manifest } of targets)
      assert.equal((await world.expect(201, 'PUT', targetPath(name), manifest)).warning, null);
  });

  test('is probed at the published ports of a host', () => {
    const [web] = converted({ host: '10.0.0.1' }).targets;
    assert.partialDeepStrictEqual(web?.spec.containers[0]?.readinessProbe, { httpGet: { path: '/', port: 8081 } });
  });

  test('builds the Dockerfile, with the token and the volume where its command expects them', () => {
    const { services, secrets } = parse(text);
    const { build, volumes, secrets: mounted } = services.probelet;
    assert.equal(join('examples', build.context, build.dockerfile), 'examples/Dockerfile');
    const { command } = dockerfile();
    assert.deepEqual(volumes, [`probelet:${command[command.indexOf('--data-dir') + 1]}`]);
    assert.deepEqual(mounted, ['probelet-token']);
    assert.ok(command.includes('/run/secrets/probelet-token') && 'probelet-token' in secrets);
  });
});

function dockerfile() {
  const text = read('examples/Dockerfile');
  const wordsOf = (instruction: string): readonly string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(text)?.[1] ?? '[]');
  return { entrypoint: wordsOf('ENTRYPOINT'), command: wordsOf('CMD') };
}

/** The flags of node, the program and the options, of a command that runs it from `/opt/probelet`. */
function productCommand(words: readonly string[]) {
  const at = words.findIndex((word) => word.endsWith('start.mjs'));
  const program = words[at]?.replace('/opt/probelet/node_modules/probelet/', '') ?? '';
  return { flags: words.slice(1, at), program, options: words.slice(at + 1) };
}

const startScript: string = JSON.parse(read('package.json')).scripts.start;

/** What both examples have to share with `npm start`. */
function assertStarts({ flags, program, options }: ReturnType<typeof productCommand>): void {
  assert.ok(startScript.endsWith(` node ${[...flags, program].join(' ')}`), `${flags} ${program}`);
  const token = join(temporaryFolder(), 'token');
  writeFileSync(token, 'x'.repeat(16), { mode: 0o600 });
  const given = options.map((word) => (/token$/.test(word) && word.includes('/') ? token : word));
  assert.notEqual(parseOptions(given).kind, 'invalid');
}

test('examples/Dockerfile starts the process as npm start does', () => {
  const { entrypoint, command } = dockerfile();
  assertStarts(productCommand([...entrypoint, ...command]));
});

describe('examples/systemd/probelet.service', () => {
  const text = read('examples/systemd/probelet.service');
  const settings = new Map(
    [...text.replaceAll('\\\n', '').matchAll(/^([A-Z]\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );

  test('starts the process as npm start does', () => {
    assertStarts(productCommand((settings.get('ExecStart') ?? '').split(/ +/)));
  });

  test('restarts it, and gives it only its own folder', () => {
    assert.equal(settings.get('Restart'), 'always');
    assert.equal(settings.get('ProtectSystem'), 'strict');
    assert.equal(settings.get('StateDirectory'), 'probelet');
    assert.equal(settings.get('NoNewPrivileges'), 'true');
  });

  test('is a unit that systemd accepts, where it is installed', () => {
    if (!existsSync('/usr/bin/systemd-analyze')) return;
    const path = join(temporaryFolder(), 'probelet.service');
    writeFileSync(path, text.replace('/usr/bin/node', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=false', path], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    const offline = ['security', '--offline=true', '--threshold=20', path];
    const security = spawnSync('systemd-analyze', offline, { encoding: 'utf8' });
    assert.equal(security.status, 0, security.stdout);
  });
});
