/**
 * Starts peers for the recorder, so that kubelet's probers and the project's meet the same ones. Reads a peer a line,
 * as vectors have it, and writes the port that it listens on. All end with the standard input.
 */
import { createInterface } from 'node:readline';
import { startTlsPeer, type TlsPeer } from '../../support/tls-peer.ts';

for await (const line of createInterface({ input: process.stdin })) {
  const { port } = await startTlsPeer(JSON.parse(line) as TlsPeer);
  process.stdout.write(`${port}\n`);
}
process.exit();
