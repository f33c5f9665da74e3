/**
 * CPU per HTTP probe of this process, against a server in another one: `node test/bench/probe-http.ts [http|https|h2] [probes] [concurrency]`.
 * CPU, not time: on a shared machine only that repeats.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { HttpRequest } from '../../shared/core/handler-http-get.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { httpProber } from '../../shared/prober/http.ts';
import { selfSigned } from '../support/certificate.ts';

const response = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';
const rounds = 5;

const serve = process.env.PROBELET_BENCH_SERVER;
if (serve === undefined) await bench();
else listen(serve);

function listen(kind: string): void {
  const certificate = () =>
    selfSigned({ hostname: 'localhost', notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') });
  const answer = (socket: import('node:net').Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(response));
  };
  const server =
    kind === 'h2'
      ? createSecureServer(certificate(), (_, res) => res.end('ok'))
      : kind === 'https'
        ? createTlsServer(certificate(), answer)
        : createServer(answer);
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') process.send?.(address.port);
  });
}

async function bench(): Promise<void> {
  const [kind = 'http', probes = '10000', concurrency = '32'] = process.argv.slice(2);
  const child = fork(import.meta.filename, { env: { ...process.env, PROBELET_BENCH_SERVER: kind } });
  const [port] = await once(child, 'message');
  const resolve = resolver({ clock: systemClock });
  const dial = guardedDialer({ resolve, policy: dialPolicy({ mode: 'local' }), clock: systemClock });
  const prober = httpProber({ dial, clock: systemClock });
  const request: HttpRequest = {
    kind: 'http',
    url: `${kind === 'http' ? 'http' : 'https'}://127.0.0.1:${port}/healthz`,
    headers: [
      ['Accept', '*/*'],
      ['User-Agent', 'kube-probe/1.36'],
    ],
    hostOverride: '',
    timeoutMs: 5000,
  };
  for (let round = 1; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    const failed = await run(() => prober(request), Number(probes), Number(concurrency));
    const { user, system } = process.cpuUsage(before);
    const each = (us: number) => (us / Number(probes)).toFixed(1);
    console.log(
      `${kind} round ${round}: ${each(user + system)} µs CPU per probe (${each(user)} user, ${each(system)} system), ${failed} failed`,
    );
  }
  child.kill();
}

/** How many did not succeed. */
async function run(probe: () => Promise<{ readonly outcome: string }>, probes: number, lanes: number): Promise<number> {
  let left = probes;
  let failed = 0;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const { outcome } = await probe();
      if (outcome !== 'success') failed += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return failed;
}
