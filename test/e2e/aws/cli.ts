/** The command line, as a user with access keys runs it: a process for each command. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Keys, region } from './cdk.ts';

export type Cli = {
  /** What the command prints. Fails if its exit code is another one, 0 if none is given. */
  (args: readonly string[], exitCode?: number): Promise<string>;
  /** A file of the user. */
  fileOf(name: string, text: string): string;
  /** Removes its configuration. */
  stop(): void;
};

const main = join(import.meta.dirname, '../../../functions/cli/main.ts');
const commandMsMax = 180_000;

export function cliOf(endpoint: string, keys: Keys): Cli {
  const home = mkdtempSync(join(tmpdir(), 'probelet-user-'));
  // Its own environment, so that no real account can be meant by mistake.
  const env = {
    PATH: dirname(process.execPath),
    HOME: home,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    AWS_REGION: region,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const run = async (args: readonly string[], exitCode = 0): Promise<string> => {
    const { code, out, err } = await ended(args, env);
    assert.equal(code, exitCode, `probelet ${args.join(' ')}: ${err}${out}`);
    return out;
  };
  return Object.assign(run, {
    fileOf(name: string, text: string): string {
      const path = join(home, name);
      writeFileSync(path, text);
      return path;
    },
    stop: () => rmSync(home, { recursive: true, force: true }),
  });
}

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

const ended = (args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { env, timeout: commandMsMax }, (_, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
  });
