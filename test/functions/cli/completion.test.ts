/** Completion of command lines: what is suggested where, and that a real bash takes it; zsh and fish where they are. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type TargetView, targetViewSchema } from '../../../shared/api/schema/target-schema.ts';
import { ordinaryValue } from '../../support/hostile-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { foreignServer, servedWorld } from './served.ts';

const { world, run, url } = await servedWorld();

before(async () => {
  const spec = { host: '10.0.0.1', containers: [{ name: 'app' }] };
  for (const name of ['web', 'work', 'db'])
    await world.expect(201, 'PUT', `/v1/namespaces/default/targets/${name}`, { spec });
  await world.expect(201, 'PUT', '/v1/namespaces/shop/targets/cart', { spec });
});

/** For a line with the cursor at its end. */
async function suggested(line: string, env: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const { code, out, err } = await run(['__complete', '--', ...line.split(' ')], { env });
  assert.deepEqual([code, err], [0, []]);
  return out.split('\n').flatMap((each) => (each === '' ? [] : (each.split('\t')[0] ?? '')));
}

const templateFormats = ['jsonpath=', 'jsonpath-as-json=', 'jsonpath-file=', 'custom-columns=', 'custom-columns-file='];

describe('what is suggested', () => {
  const lines: readonly (readonly [line: string, words: readonly string[]])[] = [
    ['des', ['describe']],
    ['con', ['convert', 'context']],
    ['get ', ['targets', 'probes', 'events']],
    ['get targets ', ['db', 'web', 'work']],
    ['get targets we', ['web']],
    ['get target/w', ['target/web', 'target/work']],
    ['get -n shop targets ', ['cart']],
    ['get --namespace=shop targets ', ['cart']],
    ['-n shop events ', ['cart']],
    ['describe ', ['target']],
    ['wait target/web ', ['target/db', 'target/web', 'target/work']],
    ['wait target/web --for condition=R', ['condition=Ready']],
    ['wait target/web --for=d', ['--for=delete']],
    ['get targets -o ', ['wide', 'yaml', 'json', 'name', ...templateFormats]],
    ['get targets --output=y', ['--output=yaml']],
    ['get targets --all', ['--all-namespaces']],
    ['apply -f ', [':files']],
    ['apply --dry-run=', ['--dry-run=server', '--dry-run=none']],
    ['context u', ['use']],
    ['context use ', ['here', 'there']],
    ['get targets --context t', ['there']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['start --data', ['--data-dir']],
    ['start --mode ', ['resident', 'tick', 'auto']],
    ['start --data-dir=', [':files']],
    ['start --token-file ', [':files']],
    ['nonsense ', []],
    ['version --client ', []],
  ];
  for (const [line, words] of lines)
    test(line, async () => {
      await run(['context', 'add', 'here', '--url', url]);
      await run(['context', 'add', 'there', '--url', url]);
      assert.deepEqual(await suggested(line), words);
    });

  test('every command, and no hidden one', async () => {
    const words = await suggested('');
    assert.ok(words.includes('apply') && !words.includes('__complete'));
    assert.ok(!(await run(['--help'])).out.includes('__complete'));
  });

  test('nothing, and no error, without a server', async () => {
    for (const env of [{ PROBELET_URL: 'http://127.0.0.1:1' }, { PROBELET_URL: 'nonsense' }])
      assert.deepEqual(await suggested('get targets ', env), []);
  });
});

const shownMsMax = 30_000;

describe('a shell', () => {
  const folder = temporaryFolder();
  const program = new URL('../../../functions/cli/main.ts', import.meta.url).pathname;
  writeFileSync(join(folder, 'probelet'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, PROBELET_URL: url, TERM: 'dumb' };

  const hasShell = (name: string): boolean => {
    try {
      execFileSync(name, ['-c', 'true'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };

  test('bash completes names of targets, and behind an equals sign', async () => {
    const script = `source <(probelet completion bash)
      for COMP_LINE in "$@"; do COMP_POINT=\${#COMP_LINE}; _probelet; echo "\${COMPREPLY[*]}"; done`;
    const lines = ['probelet get targets w', 'probelet wait target/web --for=condition=R'];
    const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', ...lines], { env });
    assert.deepEqual(stdout.split('\n'), ['web work', 'Ready', '']);
  });

  test('nothing is offered of a server or a configuration that bash would quote, because it would act on it', async () => {
    const signs = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code)).filter(
      (sign) => !/\w/.test(sign),
    );
    const hostile = ['$(id)', '`id`', '-rf', '~root', ':files', '\u202eab'];
    const names = [...signs.flatMap((sign) => [`a${sign}b`, `${sign}ab`]), ...hostile, 'plain'];
    const target = ordinaryValue(targetViewSchema) as TargetView;
    const items = names.map((name) => ({ ...target, metadata: { ...target.metadata, name } }));
    const server = await foreignServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ metadata: {}, items })),
    );
    const home = temporaryFolder();
    mkdirSync(join(home, '.config/probelet'), { recursive: true });
    const contexts = names.map((name) => ({ name, server }));
    writeFileSync(join(home, '.config/probelet/config.yaml'), JSON.stringify({ contexts }));
    for (const line of ['get targets ', 'get target/', 'context use ', 'get targets --context ']) {
      const words = await suggested(line, { PROBELET_URL: server, HOME: home });
      const { stdout } = await promisify(execFile)('bash', ['-c', `printf '%q\\n' "$@"`, 'bash', ...words]);
      assert.deepEqual(stdout.split('\n').slice(0, -1), words, line);
      assert.ok(words.some((word) => word.endsWith('plain')) && !words.some((word) => word.startsWith('-')), line);
    }
  });

  test('bash completes at a terminal when Tab is pressed', async (t) => {
    const spawned = 'import pty, sys; pty.spawn(sys.argv[1:])';
    const bash = spawn('python3', ['-c', spawned, 'bash', '--norc', '--noprofile', '-i'], { env });
    t.after(() => bash.kill('SIGKILL'));
    let shown = '';
    bash.stdout.setEncoding('utf8').on('data', (piece: string) => {
      shown += piece;
    });
    const types = async (keys: string, expected: RegExp) => {
      bash.stdin.write(keys);
      await until(
        () => `${expected} is shown: ${shown}`,
        shownMsMax,
        async () => expected.test(shown),
      );
    };
    await types('source <(probelet completion bash); echo ready $((0 + 1))\n', /ready 1/);
    await types('probelet del\t', /probelet delete /);
  });

  test('zsh, if there is one, takes its script', async () => {
    if (!hasShell('zsh')) return;
    const script = `autoload -U compinit; compinit -u -d "$HOME/.zcompdump"; source <(probelet completion zsh)
      _describe() { print -l -- "\${(@P)2}" }
      words=(probelet get targets w) CURRENT=4; _probelet; print -- $_comps[probelet]`;
    const { stdout } = await promisify(execFile)('zsh', ['-f', '-c', script], { env });
    assert.deepEqual(stdout.split('\n'), ['web', 'work', '_probelet', '']);
  });

  test('fish, if there is one, takes its script', async () => {
    if (!hasShell('fish')) return;
    const script = "probelet completion fish | source; complete -C 'probelet get targets w'";
    const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', script], { env });
    assert.deepEqual(stdout.split('\n'), ['web', 'work', '']);
  });
});
