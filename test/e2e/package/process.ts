/** The product in one process, started from the package. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startProduct } from '../../local/product.ts';
import { askApi, register, targetPath } from '../../support/api-client.ts';
import type { Tally } from '../../support/tally.ts';
import { listenWith } from '../../support/tcp-server.ts';
import { until } from '../../support/wait.ts';
import type { Installed } from './installed.ts';

const name = 'listener';
const readyMsMax = 15_000;

type Target = {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
};

export async function judgeProcess({ folder }: Installed, verdict: Tally['verdict']): Promise<void> {
  const programs = join(folder, 'node_modules/probelet/functions');
  const listener = await listenWith(
    createServer((socket) => socket.on('error', () => undefined).end()),
    '127.0.0.1',
  );
  const options = ['--port', '0', '--data-dir', join(folder, 'data')];
  const program = join(folder, 'node_modules/.bin/probelet');
  const product = await startProduct(['start', ...options], { program });
  try {
    await register(product.url, name, {
      host: '127.0.0.1',
      readinessProbe: { tcpSocket: { port: listener.port }, periodSeconds: 1 },
    });
    const isReady = async (): Promise<boolean> => {
      const { body } = await askApi<Target>(product.url, 'GET', targetPath(name));
      return body.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    };
    const found = await until('the target is ready', readyMsMax, isReady).catch((error: Error) => [error.message]);
    verdict('a target of probelet start becomes Ready', found);
  } finally {
    await product.stop();
    await listener.close();
  }
  verdict('probelet start ends with exit code 0 on SIGTERM', product.child.exitCode === 0);
  // The watchdog's thread imports it by name, only when the event loop hangs.
  const watched = await import(pathToFileURL(join(programs, 'local/watched.js')).href);
  const { module } = watched.rememberedInTable({ table: 'probelet', endpoints: {} });
  verdict('the watchdog finds its module', typeof (await import(module)).rememberHang === 'function');
}
