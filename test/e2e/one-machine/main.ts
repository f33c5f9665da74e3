/**
 * `npm run e2e:one-machine`: the proxies and the rotation of docs/one-machine.md, with nginx, Caddy and logrotate, on
 * other ports and paths. Ends with `N passed, N failed`.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endProduct, spawnProduct } from '../../local/product.ts';
import { localhostCertificate } from '../../support/certificate.ts';
import { freePort } from '../../support/free-port.ts';
import { fencesOf } from '../../support/markdown.ts';
import { tallyOf } from '../../support/tally.ts';
import { until } from '../../support/wait.ts';
import { judgeProxy } from './proxied.ts';

const markdown = readFileSync(join(import.meta.dirname, '../../../docs/one-machine.md'), 'utf8');
const token = 'of-one-machine-in-a-test';
const authorization = `Bearer ${token}`;
const patience = { withinMs: 30_000, pollMs: 100 };
const { verdict, end } = tallyOf();

const missing = ['nginx', 'caddy', 'logrotate'].filter((name) => spawnSync('which', [name]).status !== 0);
if (missing.length > 0) {
  console.error(
    `${missing.join(', ')} missing: apt-get install -y --no-install-recommends nginx-light caddy logrotate`,
  );
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'probelet-one-machine-'));
const at = (name: string): string => join(folder, name);
const write = (name: string, text: string): void => writeFileSync(at(name), text, { mode: 0o600 });
const running: ChildProcess[] = [];
try {
  const port = await freePort();
  const { cert, key } = localhostCertificate();
  for (const [name, text] of Object.entries({ token, 'probelet.pem': cert, 'probelet.key': key })) write(name, text);
  const log = openSync(at('probelet.log'), 'a');
  const args = ['--port', `${port}`, '--data-dir', at('data'), '--token-file', at('token')];
  running.push(spawnProduct(args, {}, ['ignore', log, 'ignore']));
  const url = `http://127.0.0.1:${port}`;
  await until('the process answers', patience, () => isUp(`${url}/healthz`));
  const put = (name: string) => register(url, name);
  await put('one');
  for (const [name, proxy] of [['nginx', nginx] as const, ['Caddy', caddy] as const]) {
    const tlsPort = await freePort();
    const child = proxy(port, tlsPort);
    running.push(child);
    await judgeProxy({ name, port: tlsPort, authorization, act: () => put(`of-${name.toLowerCase()}`) }, verdict);
    await endProduct(child);
  }
  await judgeRotation(put);
} finally {
  for (const child of running) await endProduct(child);
  rmSync(folder, { recursive: true });
}
end();

/** The only fence of this language, which has to be there. */
function snippet(language: string): string {
  const [text] = fencesOf(markdown, language);
  if (text === undefined) throw new Error(`no ${language} in docs/one-machine.md`);
  return text;
}

function nginx(port: number, tlsPort: number): ChildProcess {
  const server = snippet('nginx')
    .replace('listen 443', `listen 127.0.0.1:${tlsPort}`)
    .replaceAll('/etc/ssl', folder)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${at(name)};`);
  const http = ['access_log off;', ...paths, server].join('\n');
  const main = ['daemon off;', `pid ${at('nginx.pid')};`, 'error_log stderr crit;', 'events {}'];
  write('nginx.conf', [...main, `http {\n${http}\n}\n`].join('\n'));
  return spawn('nginx', ['-e', 'stderr', '-c', at('nginx.conf')], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function caddy(port: number, tlsPort: number): ChildProcess {
  const site = snippet('caddy')
    .replace(
      'probelet.example.com {',
      `https://localhost:${tlsPort} {\n  tls ${at('probelet.pem')} ${at('probelet.key')}`,
    )
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
  write('Caddyfile', `{\n  admin off\n  auto_https disable_redirects\n  default_bind 127.0.0.1\n}\n${site}`);
  const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return spawn('caddy', ['run', '--config', at('Caddyfile'), '--adapter', 'caddyfile'], { env, stdio: 'ignore' });
}

async function judgeRotation(put: (name: string) => Promise<void>): Promise<void> {
  const log = at('probelet.log');
  const hasLines = (path: string) => readFileSync(path, 'utf8').trim() !== '';
  await until('the log has lines', patience, () => hasLines(log));
  const before = readFileSync(log, 'utf8');
  write('logrotate.conf', snippet('logrotate').replace('/var/log', folder).replace('  compress\n', ''));
  execFileSync('logrotate', ['--force', '--state', at('state'), at('logrotate.conf')], { stdio: 'inherit' });
  verdict('logrotate keeps the lines so far', readFileSync(`${log}.1`, 'utf8') === before);
  await put('after-rotation');
  await until('the log has new lines', patience, () => hasLines(log));
  verdict('the file begins again, with a whole line', JSON.parse(firstLine(log)).level === 'info');
}

function firstLine(path: string): string {
  return readFileSync(path, 'utf8').split('\n')[0] ?? '';
}

async function register(url: string, name: string): Promise<void> {
  const readinessProbe = { tcpSocket: { port: Number(new URL(url).port) }, periodSeconds: 1 };
  const response = await fetch(`${url}/v1/namespaces/default/targets/${name}`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ spec: { host: '127.0.0.1', readinessProbe } }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

function isUp(address: string): Promise<boolean> {
  return fetch(address).then(
    ({ status }) => status === 200,
    () => false,
  );
}
