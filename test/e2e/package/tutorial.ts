/** docs/tutorial.md, block by block: its files are written, its commands run, and its outputs compared. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import type { Tally } from '../../support/tally.ts';
import { until } from '../../support/wait.ts';
import { type Installed, root } from './installed.ts';

const patience = { withinMs: 60_000, pollMs: 200 };

/** `word`: what follows the language, which a reader does not see. */
type Block = { readonly language: string; readonly word: string; readonly text: string };

const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, language = '', word = '', text = '']) => ({
    language,
    word,
    text,
  }));

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

type Output = () => Promise<string>;

/** Runs it in a folder of the installation, on free ports. */
export async function judgeTutorial({ folder: installed }: Installed, verdict: Tally['verdict']): Promise<void> {
  const folder = join(installed, 'tutorial');
  mkdirSync(folder);
  const [apiPort, workerPort] = [await freePort(), await freePort()];
  const ported = (text: string) =>
    text
      .replaceAll('8080', `${apiPort}`)
      .replaceAll('9000', `${workerPort}`)
      .replace(/probelet start$/m, `probelet start --port ${apiPort}`);
  const shell = shellIn(folder, apiPort);
  let output: Output = async () => '';
  let lastBegun = output;
  try {
    for (const { language, word, text } of blocksOf(readFileSync(join(root, 'docs/tutorial.md'), 'utf8')))
      if (language === 'js' || language === 'yaml') writeFileSync(join(folder, word), ported(text));
      else if (word === 'process') output = lastBegun = shell.began(ported(text));
      else if (language === 'sh' && word === '') output = await shell.ran(ported(text));
      else if (language === 'text') {
        const missing = await missingLater(ported(text), word === 'later' ? lastBegun : output);
        verdict(`the tutorial shows: ${text.split('\n')[0]}`, missing);
      }
  } finally {
    await shell.end();
  }
}

/** What the output lacks in the end. */
async function missingLater(expected: string, output: Output): Promise<readonly string[]> {
  let missing: readonly string[] = [];
  const isThere = async () => {
    missing = missingOf(expected, await output());
    return missing.length === 0;
  };
  await until('the output', patience, isThere).catch(() => undefined);
  return missing;
}

/** Runs commands in a folder. */
function shellIn(cwd: string, apiPort: number) {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
  const env = { ...process.env, PATH, PROBELET_URL: `http://127.0.0.1:${apiPort}`, XDG_CONFIG_HOME: cwd };
  const running: ChildProcess[] = [];
  const executed = (command: string) =>
    new Promise<string>((resolve) => {
      execFile('bash', ['-c', command], { cwd, env }, (_, stdout, stderr) => resolve(stdout + stderr));
    });
  return {
    /** In the background. Answers what it has printed so far. */
    began(command: string): Output {
      const child = spawn('bash', ['-c', command], { cwd, env, detached: true });
      running.push(child);
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
      return async () => printed;
    },
    /** Answers what it has printed, and runs it again when it is asked again. */
    async ran(command: string): Promise<Output> {
      let last: Promise<string> | undefined = executed(command);
      await last;
      return () => {
        const printed = last ?? executed(command);
        last = undefined;
        return printed;
      };
    },
    async end(): Promise<void> {
      for (const child of running.reverse()) {
        const closed = once(child, 'close');
        process.kill(-(child.pid ?? Number.NaN), 'SIGTERM');
        await closed;
      }
    },
  };
}
