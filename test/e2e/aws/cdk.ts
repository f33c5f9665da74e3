/** The CDK's command line, as a user runs it, with an account of AWS or the emulator of one. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export type Cdk = {
  bootstrap(): Promise<void>;
  /** The stack's outputs. */
  deploy(app: App): Promise<Readonly<Record<string, string>>>;
  /** As the stack was last synthesized here; what was not has not been deployed. */
  destroy(app: App): Promise<void>;
  /** Ends what is going on. */
  interrupt(): void;
  /** Ends it, and nothing more can be done. */
  stop(): void;
};

export type App = {
  readonly stack: string;
  /** Where it is run, with its `cdk.json`. Default: the root of the project. */
  readonly folder?: string;
  /** Default: the project's own. */
  readonly command?: string;
  readonly context: Readonly<Record<string, string>>;
};

const root = join(import.meta.dirname, '../../..');
const outputCharactersMax = 20_000;

/** Any will do for the emulator; the CLI remembers which account they belong to, so each emulator has its own. */
export type Keys = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string };

/** An account and a region, and what a process has to have in its environment to act there. */
export type Place = {
  readonly account: string;
  readonly region: string;
  /** HOME defaults to an empty folder. */
  readonly env: NodeJS.ProcessEnv;
};

export const region = 'us-east-1';

/** Its own environment, so that no real account can be meant by mistake. */
export const emulatorPlace = (endpoint: string, keys: Keys): Place => ({
  account: '000000000000',
  region,
  env: {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
  },
});

export function cdkCli(place: Place): Cdk {
  const { account, region } = place;
  const folder = mkdtempSync(join(tmpdir(), 'probelet-cdk-'));
  const environment = environmentOf(place, folder);
  let over = new AbortController();
  const run = (cwd: string, ...args: readonly string[]) =>
    runCdk([...args, '--no-notices', '--ci'], { cwd, env: environment, signal: over.signal });
  const appArgs = ({ stack, command, context }: App): readonly string[] => [
    stack,
    ...(command ? ['--app', command] : []),
    ...['--output', join(folder, stack)],
    ...Object.entries(context).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  const interrupt = () => over.abort();
  return {
    // By account, so that no app is needed.
    bootstrap: () => run(root, 'bootstrap', `aws://${account}/${region}`, '--app', ''),
    async deploy(app) {
      const outputs = join(folder, `${app.stack}.json`);
      await run(
        app.folder ?? root,
        'deploy',
        ...appArgs(app),
        '--require-approval',
        'never',
        '--outputs-file',
        outputs,
      );
      return JSON.parse(readFileSync(outputs, 'utf8'))[app.stack] ?? {};
    },
    async destroy({ stack }) {
      const synthesized = join(folder, stack);
      if (existsSync(join(synthesized, 'manifest.json')))
        await run(root, 'destroy', stack, '--app', synthesized, '--force');
    },
    interrupt() {
      interrupt();
      over = new AbortController();
    },
    stop() {
      interrupt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const environmentOf = ({ account, region, env }: Place, folder: string) => ({
  HOME: folder,
  ...env,
  PATH: [dirname(process.execPath), join(root, 'node_modules/.bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(
    delimiter,
  ),
  TMPDIR: folder,
  AWS_REGION: region,
  CDK_DEFAULT_ACCOUNT: account,
  CDK_DISABLE_CLI_TELEMETRY: 'true',
  CDK_DISABLE_VERSION_CHECK: '1',
});

type Running = { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal };

/** In a group of processes of its own: the CLI runs the app in a shell. */
async function runCdk(args: readonly string[], { cwd, env, signal }: Running): Promise<void> {
  signal.throwIfAborted();
  const child = spawn('cdk', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  const collect = (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-outputCharactersMax);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const kill = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
  signal.addEventListener('abort', kill);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  signal.removeEventListener('abort', kill);
  if (code !== 0) throw new Error(`cdk ${args.join(' ')} ended with ${code}:\n${said}`);
}
