/**
 * Random scripts for the grammar alone: those of which the product says that they run one command run in real shells,
 * with a `curl` that records its words. No other program is on the path, so a script can do nothing else.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../../shared/lib/random.ts';
import { scriptCommand } from '../../shared/manifest/command/shell-script.ts';
import { inLanes } from '../support/lanes.ts';

const pieces: readonly string[] = [
  ...['curl', 'a', 'b', '-f', 'http://a/?b', 'http://[::1]/', 'exit', '1', '0', 'true', 'false', 'exec', '/dev/null'],
  ...[
    ' ',
    ' ',
    ' ',
    ' ',
    '  ',
    '\t',
    '\n',
    '\\\n',
    '\\',
    "'",
    "'",
    '"',
    '"',
    '#',
    ' #',
    ';',
    '&',
    '|',
    '||',
    '&&',
    '>',
  ],
  ...['2>&1', '>&2', '>/dev/null', ' || exit 1', '|| exit 1', ' && exit 0 || exit 1', ' || false', '<', '<<', '(', ')'],
  ...[
    '{',
    '}',
    '{a,b}',
    '$',
    '$a',
    '$(',
    '`',
    '${',
    '!',
    '*',
    '?',
    '[',
    ']',
    '~',
    '=',
    ':~',
    '=~',
    '%',
    '^',
    '\r',
    'A=b ',
  ],
  ...[
    "'a b'",
    '"a b"',
    '\\"',
    "\\'",
    '\\ ',
    '\\#',
    '\\$',
    "'#'",
    '"\\""',
    "'\\'",
    '"\\a"',
    '"\\\n"',
    "'\n'",
    '"#"',
    "''",
    '""',
  ],
];

function randomScript(random: Random): string {
  const one = () => pieces[Math.floor(random.next() * pieces.length)] ?? '';
  const start = random.next() < 0.8 ? 'curl ' : '';
  const end = random.next() < 0.3 ? ' || exit 1' : '';
  return start + Array.from({ length: 1 + Math.floor(random.next() * 9) }, one).join('') + end;
}

export type ScriptTally = { readonly read: number; readonly ran: number; readonly failures: readonly string[] };

const shells = ['/bin/sh', '/bin/bash'] as const;
/** The exit codes of the command: what the script makes of them is compared, too. */
const statuses = [0, 22] as const;
const lanes = 4;

/** Of `count` scripts that are accepted. */
export async function fuzzScripts({
  random,
  count,
}: {
  readonly random: Random;
  readonly count: number;
}): Promise<ScriptTally> {
  const root = mkdtempSync(join(tmpdir(), 'fuzz-scripts-'));
  const failures: string[] = [];
  const accepted: { readonly script: string; readonly words: readonly string[] }[] = [];
  let read = 0;
  while (accepted.length < count) {
    const script = randomScript(random);
    read += 1;
    const found = scriptCommand(script, false);
    if (found.kind === 'command' && found.words[0] === 'curl') accepted.push({ script, words: found.words });
  }
  const shim = join(root, 'bin');
  mkdirSync(shim);
  writeFileSync(join(shim, 'curl'), '#!/bin/sh\nprintf \'%s\\0\' curl "$@" x >>"$WORDS"\nexit "$STATUS"\n');
  chmodSync(join(shim, 'curl'), 0o755);
  let runs = 0;
  try {
    await inLanes(accepted, lanes, async ({ script, words }) => {
      const differing: string[] = [];
      for (const shell of shells)
        for (const status of statuses) {
          runs += 1;
          const ran = await runScript(script, { shell, status, shim, folder: join(root, `run-${runs}`) });
          const expected = { words: [...words, 'x'].join('\0'), isSuccess: status === 0, files: [] };
          if (JSON.stringify(ran) !== JSON.stringify(expected))
            differing.push(
              `${shell} ${JSON.stringify(script)}: ${JSON.stringify(ran)}, not ${JSON.stringify(expected)}`,
            );
        }
      failures.push(...differing.slice(0, 1));
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return { read, ran: accepted.length, failures };
}

type ScriptRun = {
  readonly shell: string;
  readonly status: number;
  readonly shim: string;
  /** Made for the run. */
  readonly folder: string;
};

function runScript(script: string, { shell, status, shim, folder }: ScriptRun) {
  const cwd = join(folder, 'cwd');
  mkdirSync(cwd, { recursive: true });
  const file = join(folder, 'words');
  const env = { PATH: shim, HOME: '/home', WORDS: file, STATUS: String(status) };
  return new Promise<object>((resolve, reject) => {
    const child = spawn(shell, ['-c', script], { cwd, env, stdio: 'ignore', timeout: 10_000 });
    child.once('error', reject);
    child.once('close', (code) => {
      const words = existsSync(file) ? readFileSync(file, 'utf8').replace(/\0$/, '') : '';
      resolve({ words, isSuccess: code === 0, files: readdirSync(cwd) });
      rmSync(folder, { recursive: true, force: true });
    });
  });
}
