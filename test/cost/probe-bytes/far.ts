/** Ordinary servers of each protocol at the far end of a link, in their own process and network namespace. */
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type Server } from 'node:net';
import { answerLink } from '../../e2e/faults/network/link.ts';
import { localhostCertificate } from '../../support/certificate.ts';
import { healthService, startHttp2 } from '../../support/grpc-server.ts';
import { farPorts } from './ports.ts';

const host = '0.0.0.0';
const closeMs = 60;

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve) => server.listen(port, host, resolve));

async function answer(): Promise<void> {
  answerLink();
  const [web, secure] = [
    createServer((_, response) => response.end('ok\n')),
    createSecureServer(localhostCertificate(), (_, response) => response.end('ok\n')),
  ];
  await listen(web, farPorts.http);
  await listen(secure, farPorts.https);
  await listen(
    createTcpServer({ allowHalfOpen: true }, (socket) => {
      // As one that has something else to do: its kernel acknowledges the end before it says its own.
      socket
        .on('error', () => undefined)
        .on('end', () => setTimeout(() => socket.end(), closeMs))
        .resume();
    }),
    farPorts.tcp,
  );
  const serving = healthService({ statuses: { '': 'SERVING' } });
  await startHttp2({}, serving, { host, port: farPorts.grpc });
}

process.on('message', (order: 'answer' | 'live') => {
  const done = order === 'answer' ? answer() : Promise.resolve();
  void done.then(() => process.send?.(order));
});
process.on('disconnect', () => process.exit());
