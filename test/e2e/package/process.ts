/** The product in one process, started from the package. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startProduct } from '../../local/product.ts';
import { askApi, targetPath } from '../../support/api-client.ts';
import type { Tally } from '../../support/tally.ts';
import { listenWith } from '../../support/tcp-server.ts';
import { until } from '../../support/wait.ts';
import type { Installed } from './installed.ts';

const name = 'listener';
const host = '127.0.0.1';
const readyMsMax = 15_000;

type Target = {
  /** A number in a problem. */
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

export async function judgeProcess({ folder, run }: Installed, verdict: Tally['verdict']): Promise<void> {
  const programs = join(folder, 'node_modules/probelet/functions');
  const listener = await listenWith(
    createServer((socket) => socket.on('error', () => undefined).end()),
    host,
  );
  const readinessProbe = { tcpSocket: { port: listener.port }, periodSeconds: 1 };
  // The thread that reads the file is found by name.
  writeFileSync(join(folder, 'targets.json'), JSON.stringify({ metadata: { name }, spec: { host, readinessProbe } }));
  writeFileSync(join(folder, 'probelet.json'), '{ "targets": ["targets.json"] }');
  const options = ['--port', '0', '--data-dir', join(folder, 'data'), '--config', join(folder, 'probelet.json')];
  const program = join(folder, 'node_modules/.bin/probelet');
  const product = await startProduct(['start', ...options], { program });
  try {
    const probelet = (...args: readonly string[]) => run(program, [...args, '--server', product.url]);
    const { status, out, err } = probelet('apply', '-f', 'deployment.yaml', '--host', host, '--diff');
    const isApplied = status === 0 && out.endsWith('target/web created\n');
    verdict('probelet apply registers a target', isApplied ? [] : [out, err]);
    const isReady = async (): Promise<boolean> => {
      const { body } = await askApi<Target>(product.url, 'GET', targetPath(name));
      return body.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    };
    const found = await until('the target is ready', readyMsMax, isReady).catch((error: Error) => [error.message]);
    verdict('a target of a file of the configuration of probelet start becomes Ready', found);
    verdict('probelet get shows it', /^listener +1\/1 +Running /m.test(probelet('get', 'targets').out));
  } finally {
    await product.stop();
    await listener.close();
  }
  verdict('probelet start ends with exit code 0 on SIGTERM', product.child.exitCode === 0);
  // The watchdog's thread imports it by name, only when the event loop hangs.
  const watched = await import(pathToFileURL(join(programs, 'local/process/watched.js')).href);
  const { module } = watched.rememberedInTable({ table: 'probelet', endpoints: {} });
  verdict('the watchdog finds its module', typeof (await import(module)).rememberHang === 'function');
}
