/**
 * `npm run e2e:image`: packs the npm package, builds the image of examples/Dockerfile with buildah, and runs it: as
 * which user, what it answers, what its health check says, and that it stops. Then the same with the image of the
 * prober's task, as a deployment builds it. Ends with `N passed, N failed`.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { tallyOf } from '../../support/tally.ts';
import { until } from '../../support/wait.ts';
import { makeBaseImage } from './base-image.ts';
import { startBuilder } from './buildah.ts';

type Config = {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
};

const root = join(import.meta.dirname, '../../..');
const token = 'of-the-image-in-a-test';
/** Nothing listens there. */
const taskVariables = [
  ...['AWS_REGION=us-east-1', 'AWS_ACCESS_KEY_ID=local', 'AWS_SECRET_ACCESS_KEY=local'],
  ...['AWS_ENDPOINT_URL=http://127.0.0.1:9', 'PROBELET_SHARD_QUEUE_URL=http://127.0.0.1:9/shards.fifo'],
  ...['PROBELET_TABLE=targets', 'PROBELET_BUS=probes', 'PROBELET_RELEASE=r1'],
];
const patience = { withinMs: 60_000, pollMs: 100 };
const { verdict, end } = tallyOf();
const { buildah, options, remove } = startBuilder();
const secrets = mkdtempSync(join(tmpdir(), 'probelet-secrets-'));
try {
  execFileSync('npm', ['run', '--silent', 'pack'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  makeBaseImage(buildah, 'docker.io/library/node:24-slim');
  await judgeImage(build());
  await judgeTask();
} finally {
  remove();
  rmSync(secrets, { recursive: true });
}
end();

/** Builds it from the package alone, with npm's cache of this machine. Returns the settings of the image. */
function build(): Config {
  const cache = ['--volume', `${join(homedir(), '.npm')}:/var/root/.npm`];
  const from = ['-f', join(root, 'examples/Dockerfile'), join(root, 'dist')];
  buildah('bud', '--quiet', '--pull-never', '--format', 'docker', '-t', 'probelet', ...cache, ...from);
  return JSON.parse(buildah('inspect', '--type', 'image', 'probelet')).Docker.config;
}

async function judgeImage({ User, Entrypoint, Cmd, Healthcheck }: Config): Promise<void> {
  const port = await freePort();
  const tokenFile = join(secrets, 'token');
  writeFileSync(tokenFile, token, { mode: 0o644 });
  const container = buildah('from', '--pull-never', 'probelet');
  const volume = ['--volume', `${tokenFile}:/run/secrets/probelet-token:ro`];
  const command = [...options, 'run', ...volume, container, '--', ...Entrypoint, ...Cmd, '--port', `${port}`];
  const running = spawn('buildah', command, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const statusOf = (path: string, headers = {}) =>
    fetch(`${url}${path}`, { headers }).then(
      ({ status }) => status,
      () => undefined,
    );
  await until('it answers', patience, async () => (await statusOf('/healthz')) === 200);
  verdict('it answers /healthz', true);
  const pid = nodeProcess(` --port ${port}`);
  try {
    const [, uid] = /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    verdict(`it runs as ${User}, user ${uid}`, User === '1000' && uid === '1000');
    verdict('it refuses a caller without the token', (await statusOf('/v1/targets')) === 401);
    const authorization = `Bearer ${token}`;
    verdict('it answers one with the token', (await statusOf('/v1/targets', { authorization })) === 200);
    verdict('its health check succeeds', health(container, Healthcheck, port) === 0);
  } finally {
    process.kill(pid, 'SIGTERM');
  }
  verdict('SIGTERM ends it with 0', (await codeOf(running, pid)) === 0);
  verdict('its health check fails then', health(container, Healthcheck, port) === 1);
}

/** Built from the folder of the package that a deployment hands to Docker. Without a queue it waits for messages. */
async function judgeTask(): Promise<void> {
  const folder = join(root, 'dist/package/lambda/task');
  buildah('bud', '--quiet', '--pull-never', '--format', 'docker', '-t', 'probelet-task', folder);
  const { User, Entrypoint }: Config = JSON.parse(buildah('inspect', '--type', 'image', 'probelet-task')).Docker.config;
  verdict(`the task's image runs as ${User}`, User === '1000');
  const container = buildah('from', '--pull-never', 'probelet-task');
  const run = (variables: readonly string[]) => [...options, 'run', ...variables, container, '--', ...Entrypoint];
  const { status, stderr } = spawnSync('buildah', run([]), { encoding: 'utf8' });
  verdict('a task without its variables names them and ends', status === 1 && /PROBELET_TABLE is missing/.test(stderr));
  const task = spawn('buildah', run(taskVariables.flatMap((each) => ['--env', each])));
  let log = '';
  task.stdout.on('data', (text) => {
    log += text;
  });
  await until('the task waits for messages', patience, () => log.includes('"task started"'));
  const pid = nodeProcess(' /opt/probelet/index.mjs');
  process.kill(pid, 'SIGTERM');
  const code = await codeOf(task, pid);
  verdict('SIGTERM ends the task with 0', code === 0 && log.includes('"stopped"'));
}

/** The exit code of a container that was asked to end. A process that stays is killed. */
async function codeOf(container: ChildProcess, pid: number): Promise<number | null> {
  const late = setTimeout(() => process.kill(pid, 'SIGKILL'), patience.withinMs);
  try {
    await until('the container ends', 2 * patience.withinMs, () => container.exitCode !== null);
    return container.exitCode;
  } finally {
    clearTimeout(late);
  }
}

/** The exit code of the health check, asked of this port. */
function health(container: string, { Test: [, ...words] }: Config['Healthcheck'], port: number): number | null {
  const command = words.map((word) => word.replace(':8080/', `:${port}/`));
  return spawnSync('buildah', [...options, 'run', container, '--', ...command]).status;
}

/** Node, which the builder started with arguments that end so. */
function nodeProcess(ending: string): number {
  const listed = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const line = listed.find((each) => /^ *\d+ (\/\S+\/)?node /.test(each) && each.endsWith(ending));
  if (line === undefined) throw new Error('the process is not there');
  return Number.parseInt(line, 10);
}
