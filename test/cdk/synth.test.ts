/** The command that a user types, with the real bundles; everything else about the template is tested without them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { goldenTemplate, normalisedTemplate } from '../support/write-template.ts';

const root = join(import.meta.dirname, '../..');
const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
const output = temporaryFolder();

/** What it says about itself stays out of the template, and nothing is asked of the network. */
const plain = ['--no-notices', '--no-version-reporting', '--no-path-metadata', '--no-asset-metadata'];

/** Without credentials: they are for the deploy. */
function cdk(...options: readonly string[]) {
  const args = [join(root, 'node_modules/aws-cdk/bin/cdk'), ...options, ...plain, '--output', output];
  const quiet = { CDK_DISABLE_CLI_TELEMETRY: 'true', AWS_EC2_METADATA_DISABLED: 'true' };
  const env = { PATH, HOME: output, TMPDIR: tmpdir(), ...quiet };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env });
  return { status, text: stdout + stderr };
}

type Asset = { readonly source: { readonly path: string; readonly packaging: string } };
type Assets = { readonly files: { readonly [hash: string]: Asset } };

describe('cdk synth', () => {
  const { status, text } = cdk('synth', '--strict', '--quiet');

  test('is clean, and says what it will cost', () => {
    assert.equal(status, 0, text);
    assert.match(text, /INFO About \$\d+\.\d\d a month for 100 targets/);
    assert.match(text, /INFO alarmTopic: is missing, so alarms are seen in the console alone/);
    assert.doesNotMatch(text, /WARN|ERROR/);
  });

  test('makes the golden template', () => {
    const template = JSON.parse(readFileSync(join(output, 'Probelet.template.json'), 'utf8'));
    assert.deepEqual(normalisedTemplate(template), JSON.parse(readFileSync(goldenTemplate, 'utf8')));
  });

  test('makes four bundles, small and with their source maps', () => {
    const { files } = JSON.parse(readFileSync(join(output, 'Probelet.assets.json'), 'utf8')) as Assets;
    const folders = Object.values(files).filter(({ source }) => source.packaging === 'zip');
    // One more is the CDK's own.
    const bundles = folders.filter(({ source }) => existsSync(join(output, source.path, 'index.mjs')));
    assert.deepEqual([folders.length, bundles.length], [5, 4]);
    for (const { source } of bundles) {
      const file = join(output, source.path, 'index.mjs');
      assert.ok(statSync(file).size < bundleBytesMax, `${statSync(file).size} bytes`);
      const code = readFileSync(file, 'utf8');
      const exported = /export\{([^}]*)\};\n\/\/# sourceMappingURL=index\.mjs\.map\n$/.exec(code)?.[1] ?? '';
      const names = [...exported.matchAll(/ as (\w+)/g)].map(([, name]) => name).sort();
      const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { readonly sources: readonly string[] };
      assert.ok(sources.some((path) => /^functions\/[a-z-]+\/handler\.ts$/.test(path)));
      // The thread of the prober's watchdog imports the bundle once more for the second.
      const isProber = sources.includes('functions/prober/handler.ts');
      assert.deepEqual(names, isProber ? ['handler', 'rememberHang'] : ['handler']);
      // Or the hash, and with it the release, would change with the folder that it is made in.
      for (const path of sources) assert.match(path, /^(functions|shared|node_modules)\//);
    }
  });
});

const bundleBytesMax = 1_200_000;

describe('a wrong context is answered with a line for each slip, without a stack trace', () => {
  const slips: readonly (readonly [context: string, ...lines: readonly RegExp[]])[] = [
    [
      'probelet={"memorySize":64,"retention":7}',
      /^wrong props of Probelet$/m,
      /^ {2}memorySize: is 64; allowed: a whole number from 128 to 10240$/m,
      /^ {2}retention: there is no such prop \(did you mean logRetention\?\); allowed: stage, /m,
    ],
    ['probelet={"memorySize":', /^context probelet: is "\{.*; allowed: an object of props, as in -c probelet=/m],
    ['probelet=[]', /^context probelet: is "\[\]"; allowed: an object of props/m],
    ['probelt={}', /^context probelt: there is no such key \(did you mean probelet\?\)$/m],
  ];
  for (const [context, ...lines] of slips)
    test(context, () => {
      const { status, text } = cdk('synth', '--quiet', '-c', context);
      assert.equal(status, 1);
      for (const line of lines) assert.match(text, line);
      assert.doesNotMatch(text, /^\s+at |file:|Error:/m);
    });
});

test('a Node that cannot run the app is answered with one line that names the one it needs', () => {
  const { app }: { readonly app: string } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));
  const old = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
  const env = { PATH, NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(old)}"` };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', app], { cwd: root, encoding: 'utf8', env });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^probelet needs Node 24\.11 or newer, this is 20\.20\.2: .*\n$/);
});
