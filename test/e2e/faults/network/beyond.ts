/** All targets of a room and its DNS server, at the far end of its link, in their own process and network namespace. */
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { startDnsServer } from '../../../support/dns-server.ts';
import { answerLink, dnsAddress, fallSilent, speakAgain, targetAddress, webPort } from './link.ts';

export type Order = 'answer' | 'fall silent' | 'speak again' | 'asked';

/** Wall times of all requests since the last answer to `asked`. */
export type Asked = readonly number[];

const dnsPort = 53;
/** Every name is asked for again and again, also while nothing answers. */
const ttl = 1;

let asked: number[] = [];

const web = createServer({ keepAlive: false }, (_, response) => {
  asked.push(Date.now());
  response.writeHead(200, { connection: 'close' }).end('ok\n');
});

async function answer(): Promise<void> {
  answerLink();
  await startDnsServer(
    (name) => {
      const at = /^target-(\d+)\.test$/.exec(name)?.[1];
      return at === undefined ? undefined : { kind: 'addresses', a: [targetAddress(Number(at))], ttl };
    },
    { address: dnsAddress, port: dnsPort },
  );
  const overTcp = createTcpServer((socket) => socket.on('error', () => undefined).destroy());
  await new Promise<void>((resolve) => overTcp.listen(dnsPort, dnsAddress, resolve));
  await new Promise<void>((resolve) => web.listen(webPort, '0.0.0.0', 4_096, resolve));
}

async function obey(order: Order): Promise<Asked> {
  switch (order) {
    case 'answer':
      await answer();
      return [];
    case 'fall silent':
      fallSilent();
      return [];
    case 'speak again':
      speakAgain();
      return [];
    case 'asked': {
      const told = asked;
      asked = [];
      return told;
    }
  }
}

process.on('message', (order: Order) => {
  void obey(order).then((told) => process.send?.(told));
});
process.on('disconnect', () => process.exit());
