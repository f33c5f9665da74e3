/**
 * The targets of the crowd, on loopback in a process of their own. They note when each is probed, and share the machine
 * with what they measure: so they answer without `node:http`.
 */
import { type AddressInfo, createServer } from 'node:net';
import { type Standstill, watchStandstills } from '../support/standstill.ts';

export type TargetReport = {
  readonly port: number;
  /** Wall times of the requests since the last message, by path. */
  readonly asked: Readonly<Record<string, readonly number[]>>;
  /** Since the start. */
  readonly standstills: readonly Standstill[];
};

const answer = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
const backlog = 4_096;

let asked: Record<string, number[]> = {};
const standstills = watchStandstills();

const server = createServer((socket) => {
  // A probe sends its whole request at once.
  socket.once('data', (head) => {
    const path = head.toString('latin1').split(' ', 2)[1] ?? '';
    const times = asked[path] ?? [];
    asked[path] = times;
    times.push(Date.now());
    socket.end(answer);
  });
  // A probe whose time is over resets its connection; that shows in the times.
  socket.on('error', () => {});
});

const tell = () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port, asked, standstills: standstills() } satisfies TargetReport);
  asked = {};
};

server.listen(0, '127.0.0.1', backlog, tell);
process.on('message', tell);
process.on('disconnect', () => process.exit());
