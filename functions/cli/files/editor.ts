/** Lets the user edit a text in the editor of the environment. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { visibleLine } from '../../../shared/lib/visible-text.ts';
import type { Io } from '../io.ts';
import { CliError } from '../words/exit-codes.ts';

export type Editor = {
  /** What the user has made of the text. Comments are shown above it. @throws CliError if the editor fails */
  edited(text: string, comments: readonly string[]): Promise<string>;
  /** The file with what was edited last, which then stays. */
  kept(): string;
  /** Removes the file unless it is kept. */
  end(): void;
};

const editorDefault = 'vi';

/** The file is in a folder that only the user can read. */
export function editorIn(env: Io['env']): Editor {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-edit-'));
  const file = join(folder, 'target.yaml');
  let isKept = false;
  return {
    async edited(text, comments) {
      writeFileSync(file, comments.map((line) => `# ${visibleLine(line)}\n`).join('') + text, { mode: 0o600 });
      await run(env, file);
      return withoutComments(readFileSync(file, 'utf8'));
    },
    kept() {
      isKept = true;
      return file;
    },
    end() {
      if (!isKept) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** No line of the YAML begins with a number sign: what it holds is indented or quoted. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');

/** By a shell, as the variables may hold options. */
async function run(env: Io['env'], file: string): Promise<void> {
  const editor = [env.VISUAL, env.EDITOR].find((each) => (each ?? '') !== '') ?? editorDefault;
  const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env: { ...env } });
  const code = await new Promise<number | string>((resolve) => {
    child.on('error', ({ message }) => resolve(message));
    child.on('close', (exitCode, signal) => resolve(exitCode ?? signal ?? ''));
  });
  if (code !== 0) throw new CliError(`the editor '${editor}' ended with ${code}: VISUAL and EDITOR name another`);
}
