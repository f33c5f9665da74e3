/** CPU of one gRPC and one TCP probe, dial included, against a server in a process of its own: `node test/bench/probe-grpc.ts`. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Attempt } from '../../shared/core/types.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { grpcProber } from '../../shared/prober/grpc.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { startGrpcServer } from '../support/grpc-server.ts';
import { loopbackDial } from '../support/loopback-dial.ts';

const host = '127.0.0.1';
const timeoutMs = 5000;
const warmUps = 4000;
const probes = 4000;
const lanes = 8;

if (process.argv[2] === 'serve') await serve();
else await measure();

async function serve(): Promise<void> {
  const server = await startGrpcServer({ kind: 'grpc-health', statuses: { '': 'SERVING' } });
  process.send?.(server.port);
  process.once('disconnect', () => void server.close());
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename, ['serve']);
  const [port] = (await once(child, 'message')) as [number];
  const grpc = grpcProber({ dial: loopbackDial, clock: systemClock });
  const tcp = tcpProber({ dial: loopbackDial, clock: systemClock });
  await report('tcp', () => tcp({ kind: 'tcp', host, port, timeoutMs }));
  await report('grpc', () => grpc({ kind: 'grpc', host, port, service: '', timeoutMs }));
  child.disconnect();
}

async function report(name: string, probe: () => Promise<Attempt>): Promise<void> {
  await repeat(warmUps, probe);
  const before = process.cpuUsage();
  const startMs = performance.now();
  await repeat(probes, probe);
  const wallMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(before);
  const micros = (total: number) => `${(total / probes).toFixed(0)} µs`;
  console.log(`${name}: ${micros(user + system)} CPU per probe (${micros(user)} user), ${micros(wallMs * 1000)} wall`);
}

async function repeat(times: number, probe: () => Promise<Attempt>): Promise<void> {
  const lane = async () => {
    for (let done = 0; done < times / lanes; done += 1) {
      const { outcome, output } = await probe();
      if (outcome !== 'success') throw new Error(output);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
