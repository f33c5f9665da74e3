/** Starts a server for one test file on a free port, and ends it with this process, however that ends. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { freePort } from './free-port.ts';

export type LocalServer = {
  readonly port: number;
  readonly endpoint: string;
  stop(): Promise<void>;
};

export type ServerProgram = {
  readonly name: string;
  readonly command: (port: number) => readonly [string, ...string[]];
  readonly options?: (port: number) => SpawnOptions;
  /** Asked of the server until `isUp` accepts the answer. */
  readonly path: string;
  readonly isUp: (response: Response) => boolean;
};

const startAttemptsMax = 3;
const startTimeoutMs = 60_000;
const pollMs = 50;
const outputCharactersMax = 10_000;

/** Another process may take the port before the server binds it, so a failed start is repeated. */
export async function startLocalServer(program: ServerProgram): Promise<LocalServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const server = spawnServer(program, port);
    const endpoint = `http://127.0.0.1:${port}`;
    const stop = () => stopped(server.child);
    try {
      await answering(server, program, endpoint);
      return { port, endpoint, stop };
    } catch (error) {
      await stop();
      if (attempt === startAttemptsMax) throw error;
    }
  }
}

/**
 * The server dies with the process that holds its standard input, even if that process is killed: the shell waits for
 * the end of the input. In a process group of its own the server's children die too.
 */
const guardOf = ({ detached }: SpawnOptions): string =>
  `exec 3<&0; "$@" </dev/null & child=$!; (cat <&3 >/dev/null; kill -9 ${detached ? '0' : '$child'} 2>/dev/null) & wait $child`;

type Server = { readonly child: ChildProcess; readonly output: () => string };

function spawnServer({ command, options: optionsOf }: ServerProgram, port: number): Server {
  const options = optionsOf?.(port) ?? {};
  const child = spawn('/bin/sh', ['-c', guardOf(options), 'sh', ...command(port)], { ...options, stdio: 'pipe' });
  let text = '';
  const collect = (chunk: Buffer): void => {
    text = `${text}${chunk}`.slice(-outputCharactersMax);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return { child, output: () => text };
}

async function answering({ child, output }: Server, { name, path, isUp }: ServerProgram, endpoint: string) {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${output()}`);
    const response = await fetch(`${endpoint}${path}`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => undefined);
    if (response && isUp(response)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`${name} did not answer within ${startTimeoutMs} ms: ${output()}`);
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = new Promise((resolve) => child.once('exit', resolve));
  child.stdin?.end();
  await closed;
}
