/** An emulator of AWS, in memory, one Python process for one test file. */
import { type ChildProcess, type ExecFileSyncOptions, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { sqsClient } from '../../shared/queue/sqs-client.ts';
import { freePort } from './free-port.ts';

export type Ministack = {
  readonly port: number;
  readonly endpoint: string;
  stop(): Promise<void>;
};

const root = join(import.meta.dirname, '../..');
const environment = join(root, '.venv');
const program = join(environment, 'bin/ministack');

const pythonHint = `Python 3.10 or newer with its venv module is a prerequisite of these tests (the emulator of AWS runs on it): install it with
"apt-get install python3-venv" or "brew install python", and run them again.`;

const startAttemptsMax = 3;
const startTimeoutMs = 60_000;
const pollMs = 50;
const outputCharactersMax = 10_000;

/** Any key will do, without a prefix that looks real. */
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

type Options = {
  /** A folder whose programs come before all others, `node` for one, which runs its functions. */
  readonly programs?: string;
};

/** Stop it in `after`; it also ends with this process, however that ends. */
export async function startMinistack({ programs }: Options = {}): Promise<Ministack> {
  requireMinistack();
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const server = spawnServer(port, programs);
    try {
      await answering(server, port);
      return { port, endpoint: `http://127.0.0.1:${port}`, stop: () => stopped(server) };
    } catch (error) {
      await stopped(server);
      if (attempt === startAttemptsMax) throw error;
    }
  }
}

/** A client of the emulator, or of a proxy in front of it. */
export const ministackSqs = (endpoint: string): SQSClient => sqsClient({ endpoint, region: 'us-east-1', credentials });

/** A FIFO queue as a deployment has it; its URL. */
export async function createQueue(client: SQSClient, name: string): Promise<string> {
  const Attributes = { FifoQueue: 'true', MessageRetentionPeriod: '3600', VisibilityTimeout: '900' };
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: `${name}.fifo`, Attributes }));
  if (!QueueUrl) throw new Error('a queue without a URL');
  return QueueUrl;
}

/**
 * Installs it where it is missing, as `npm ci` installs the rest.
 * @throws Error with a hint when there is no Python.
 */
export function requireMinistack(): void {
  if (existsSync(program)) return;
  if (spawnSync('python3', ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))']).status !== 0)
    throw new Error(pythonHint);
  const options: ExecFileSyncOptions = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('python3', ['-m', 'venv', environment], options);
  const requirements = join(import.meta.dirname, 'requirements.txt');
  execFileSync(
    join(environment, 'bin/pip'),
    ['install', '--quiet', '--require-hashes', '--requirement', requirements],
    options,
  );
}

/**
 * The server dies with whoever holds its standard input, also when that is killed: the shell waits for the end of it. With it go the
 * functions that it runs, which have a group of processes to themselves.
 */
const guard = 'exec 3<&0; "$@" </dev/null & child=$!; (cat <&3 >/dev/null; kill -9 0) & wait $child';

type Server = { readonly child: ChildProcess; readonly output: () => string; readonly folder: string };

/** It gets an environment of its own, so that no setting or key of this machine reaches it. */
function spawnServer(port: number, programs: string | undefined): Server {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-ministack-'));
  const env = {
    PATH: [...(programs ? [programs] : []), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(
      delimiter,
    ),
    HOME: folder,
    TMPDIR: folder,
    BIND_HOST: '127.0.0.1',
    GATEWAY_PORT: String(port),
    IOT_MTLS_ENABLED: '0',
  };
  const child = spawn('/bin/sh', ['-c', guard, 'sh', program], { cwd: folder, env, stdio: 'pipe', detached: true });
  let text = '';
  const collect = (chunk: Buffer): void => {
    text = `${text}${chunk}`.slice(-outputCharactersMax);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return { child, output: () => text, folder };
}

async function answering({ child, output }: Server, port: number): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the emulator ended with ${child.exitCode}: ${output()}`);
    if (await isHealthy(port)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`the emulator did not answer within ${startTimeoutMs} ms: ${output()}`);
}

async function isHealthy(port: number): Promise<boolean> {
  try {
    const url = `http://127.0.0.1:${port}/_ministack/health`;
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

async function stopped({ child, folder }: Server): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((resolve) => child.once('exit', resolve));
    child.stdin?.end();
    await closed;
  }
  rmSync(folder, { recursive: true, force: true });
}
