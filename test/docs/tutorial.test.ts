/** The tutorial, block by block: its files are written, its commands run, and its outputs compared. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/wait.ts';

const root = join(import.meta.dirname, '../..');
const patience = { withinMs: 30_000, pollMs: 200 };

/** `word`: what follows the language, which a reader does not see. */
type Block = { readonly language: string; readonly word: string; readonly text: string };

const blocks: readonly Block[] = [
  ...readFileSync(join(root, 'docs/tutorial.md'), 'utf8').matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm),
].map(([, language = '', word = '', text = '']) => ({ language, word, text }));

/** Lines without what differs from run to run. */
const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll(/\b\d+(ms|s|m)\b/g, 'AGE').replaceAll(/process \d+/g, 'process PID'))
    .map((line) => line.replaceAll(/ +/g, ' ').trimEnd());

const missingOf = (expected: string, output: string): readonly string[] => {
  const there = linesOf(output);
  return linesOf(expected).filter((line) => !there.includes(line));
};

/** The package as it is installed, of the sources of the clone. */
function install(folder: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write('node_modules/probelet/package.json', '{ "type": "module", "exports": { "./client": "./client.js" } }');
  write('node_modules/probelet/client.js', `export * from '${join(root, 'package/client.ts')}';\n`);
  write('node_modules/.bin/probelet', `#!/bin/sh\nexec node '${join(root, 'functions/cli/main.ts')}' "$@"\n`);
  chmodSync(join(folder, 'node_modules/.bin/probelet'), 0o755);
}

/** npx takes half a second to find a command. */
const npx = 'npx() { local name=$1; shift; "node_modules/.bin/$name" "$@"; }\n';

test('the tutorial does what it says', async (t) => {
  const folder = temporaryFolder(t);
  install(folder);
  const [apiPort, workerPort] = [await freePort(), await freePort()];
  const ported = (text: string) =>
    text
      .replaceAll('8080', `${apiPort}`)
      .replaceAll('9000', `${workerPort}`)
      .replace(/probelet start$/m, `probelet start --port ${apiPort}`);
  const options = {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      PROBELET_URL: `http://127.0.0.1:${apiPort}`,
      XDG_CONFIG_HOME: folder,
    },
  };
  const began = (command: string) =>
    inBackground(t, spawn('bash', ['-c', npx + command], { ...options, detached: true }));
  const ran = (command: string) =>
    new Promise<string>((resolve) => {
      execFile('bash', ['-c', npx + command], options, (_, stdout, stderr) => resolve(stdout + stderr));
    });
  let output = async () => '';
  let lastBegun = output;

  for (const { language, word, text } of blocks)
    if (language === 'js' || language === 'yaml') writeFileSync(join(folder, word), ported(text));
    else if (word === 'process') output = lastBegun = began(ported(text));
    else if (language === 'sh' && word === '') {
      const first = ran(ported(text));
      await first;
      let isFirst = true;
      output = () => {
        const again = isFirst ? first : ran(ported(text));
        isFirst = false;
        return again;
      };
    } else if (language === 'text') {
      const shown = word === 'later' ? lastBegun : output;
      let missing: readonly string[] = [];
      const isThere = async () => {
        missing = missingOf(ported(text), await shown());
        return missing.length === 0;
      };
      await until(() => `in the output: ${missing.join('\n')}`, patience, isThere);
    } else assert.equal(word, 'install', text);
});

/** Ends it and its children with the test. Returns what it has printed so far. */
function inBackground(t: TestContext, child: ChildProcess): () => Promise<string> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  t.after(async () => {
    const ended = once(child, 'close');
    process.kill(-(child.pid ?? Number.NaN), 'SIGTERM');
    await ended;
  });
  return async () => printed;
}
