/**
 * CPU of one probe of this process, dial included, against a server in another one: `node test/bench/probe.ts
 * [tcp|grpc|http|https|https-resumed|h2] [probes] [concurrency]`. CPU, not time: on a shared machine only that repeats.
 */
import { fork } from 'node:child_process';
import { createSecureServer } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { tlsSessions } from '../../shared/prober/tls/sessions.ts';
import { selfSigned } from '../support/certificate.ts';
import { answerOf, serveParent } from '../support/children.ts';
import { startGrpcServer } from '../support/grpc-server.ts';
import { loopbackDial as dial } from '../support/loopback-dial.ts';

const response = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';
const rounds = 5;
const host = '127.0.0.1';
const timeoutMs = 5_000;
/** HTTPS with TLS sessions that are resumed. */
const resumed = 'https-resumed';

const [kind = 'http', probes = '10000', concurrency = '32'] = process.argv.slice(2);
if (process.send) await serve();
else await bench();

async function serve(): Promise<void> {
  const certificate = () =>
    selfSigned({ hostname: 'localhost', notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') });
  const answer = (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(response));
  };
  switch (kind) {
    case 'h2':
      return serveParent(createSecureServer(certificate(), (_, res) => res.end('ok')));
    case 'https':
    case resumed:
      return serveParent(createTlsServer(certificate(), answer));
    case 'http':
      return serveParent(createServer(answer));
    default: {
      const { port, close } = await startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' } });
      process.once('disconnect', () => void close());
      process.send?.(port);
    }
  }
}

function proberOf(port: number): () => Promise<Attempt> {
  if (kind === 'tcp') return () => tcpProber({ dial, clock })({ kind: 'tcp', host, port, timeoutMs });
  if (kind === 'grpc') return () => grpcProber({ dial, clock })({ kind: 'grpc', host, port, service: '', timeoutMs });
  const prober = httpProber({ dial, clock, tlsSessions: kind === resumed ? tlsSessions(clock) : undefined });
  const url = `${kind === 'http' ? 'http' : 'https'}://${host}:${port}/healthz`;
  const headers = [['Accept', '*/*'] as const, ['User-Agent', 'kube-probe/1.36'] as const];
  return () => prober({ kind: 'http', url, headers, hostOverride: '', timeoutMs });
}

async function bench(): Promise<void> {
  const child = fork(import.meta.filename, [kind]);
  const probe = proberOf((await answerOf(child)) as number);
  for (let round = 1; round <= rounds; round += 1) {
    const before = process.cpuUsage();
    const startMs = performance.now();
    const failed = await run(probe);
    const wallUs = (performance.now() - startMs) * 1_000;
    const { user, system } = process.cpuUsage(before);
    const each = (us: number) => `${(us / Number(probes)).toFixed(1)} µs`;
    const cpu = `${each(user + system)} CPU per probe (${each(user)} user, ${each(system)} system)`;
    console.log(`${kind} round ${round}: ${cpu}, ${each(wallUs)} wall, ${failed} failed`);
  }
  child.disconnect();
}

/** How many did not succeed. */
async function run(probe: () => Promise<Attempt>): Promise<number> {
  let left = Number(probes);
  let failed = 0;
  const lane = async () => {
    for (; left > 0; ) {
      left -= 1;
      const { outcome } = await probe();
      if (outcome !== 'success') failed += 1;
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, lane));
  return failed;
}
