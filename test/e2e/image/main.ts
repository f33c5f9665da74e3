/**
 * `npm run e2e:image`: packs the npm package, builds the image of examples/Dockerfile with buildah, and runs it: as
 * which user, what it answers, what its health check says, and that it stops. Ends with `N passed, N failed`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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
const patience = { withinMs: 60_000, pollMs: 100 };
const { verdict, end } = tallyOf();
const { buildah, options, remove } = startBuilder();
const secrets = mkdtempSync(join(tmpdir(), 'probelet-secrets-'));
try {
  execFileSync('npm', ['run', '--silent', 'pack'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  makeBaseImage(buildah, 'docker.io/library/node:24-slim');
  await judgeImage(build());
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
  const ended = once(spawn('buildah', command, { stdio: 'ignore' }), 'exit');
  const url = `http://127.0.0.1:${port}`;
  const statusOf = (path: string, headers = {}) =>
    fetch(`${url}${path}`, { headers }).then(
      ({ status }) => status,
      () => undefined,
    );
  await until('it answers', patience, async () => (await statusOf('/healthz')) === 200);
  verdict('it answers /healthz', true);
  const pid = processOf(port);
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
  const [code] = await ended;
  verdict('SIGTERM ends it with 0', code === 0);
  verdict('its health check fails then', health(container, Healthcheck, port) === 1);
}

/** The exit code of the health check, asked of this port. */
function health(container: string, { Test: [, ...words] }: Config['Healthcheck'], port: number): number | null {
  const command = words.map((word) => word.replace(':8080/', `:${port}/`));
  return spawnSync('buildah', [...options, 'run', container, '--', ...command]).status;
}

/** Node, which the builder started with this port. */
function processOf(port: number): number {
  const listed = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const line = listed.find((each) => /^ *\d+ (\/\S+\/)?node /.test(each) && each.endsWith(` --port ${port}`));
  if (line === undefined) throw new Error('the process is not there');
  return Number.parseInt(line, 10);
}
