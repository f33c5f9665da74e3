/** Runs a command as a container would: with the real programs, in a folder of its own. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { certificate } from './stand.ts';

/** Where to find the program that stands behind a name in commands. */
export type Programs = { readonly [tool: string]: string };

/** 1 to 255; 0: success. */
export type ExitCode = number;

export type RealCommands = {
  readonly run: (tool: string, command: readonly string[]) => Promise<ExitCode>;
  readonly close: () => void;
};

const timeoutMs = 20_000;

export function realCommands(programs: Programs): RealCommands {
  const root = mkdtempSync(join(tmpdir(), 'fuzz-commands-'));
  const trusted = join(root, 'trusted.pem');
  writeFileSync(trusted, certificate.cert);
  for (const [tool, path] of Object.entries(programs)) {
    mkdirSync(join(root, tool, 'bin'), { recursive: true });
    symlinkSync(path, join(root, tool, 'bin', tool === 'busybox wget' ? 'wget' : tool));
  }
  let runs = 0;
  return {
    run: (tool, command) => {
      runs += 1;
      const cwd = join(root, `run-${runs}`);
      mkdirSync(cwd);
      const env = {
        PATH: [join(root, tool, 'bin'), '/usr/bin', '/bin'].join(delimiter),
        HOME: cwd,
        // Lets curl show the request that it makes where it verifies the certificate.
        CURL_CA_BUNDLE: trusted,
      };
      return exitCodeOf(command, { cwd, env }).finally(() => rmSync(cwd, { recursive: true, force: true }));
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

function exitCodeOf([program = '', ...args]: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  return new Promise<ExitCode>((resolve) => {
    // `detached`: a process group of its own, all of which is ended.
    const child = spawn(program, args, { ...options, stdio: 'ignore', detached: true });
    const endAll = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
    };
    const timer = setTimeout(endAll, timeoutMs);
    const end = (code: number | null) => {
      clearTimeout(timer);
      endAll();
      resolve(code ?? 255);
    };
    child.once('error', () => end(127));
    child.once('close', end);
  });
}
