/** A probe that hangs the event loop of a real process. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listenWith, portOf } from '../support/tcp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const program = join(import.meta.dirname, 'hanging-process.ts');
const hangMs = 600;
/** For the end of a process. */
const patienceMs = 15_000;

type Answer = {
  readonly status: number;
  readonly body: { readonly status: string; readonly quarantined: readonly object[] };
};

/** Once it holds its targets. */
async function started(t: TestContext, folder: string) {
  const child = fork(program, [folder, String(hangMs)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = endOf(child);
  await once(child, 'message');
  return {
    async ask(method: string, path: string, body?: object): Promise<Answer> {
      child.send({ method, path, body });
      const [answer] = await once(child, 'message');
      return answer;
    },
    /** Whether it is done with work of this length in one turn of its loop. */
    async works(busyMs: number): Promise<boolean> {
      child.send({ busyMs });
      return Promise.race([once(child, 'message').then(() => true), ended.then(() => false)]);
    },
    ended: async () => ({ how: await ended, named: namedIn(output) }),
  };
}

const endOf = (child: ChildProcess): Promise<string> =>
  once(child, 'close', { signal: AbortSignal.timeout(patienceMs) }).then(
    ([, signal]) => String(signal),
    () => 'it runs on',
  );

/** The probes that lines of level `fatal` name. */
const namedIn = (output: string): readonly string[] =>
  output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 'fatal')
    .map(({ namespace, target: name, container, probeType }) => `${namespace}/${name} ${container} ${probeType}`);

const target = (address: string, port: number) => ({
  spec: { host: address, readinessProbe: { tcpSocket: { port }, periodSeconds: 1, failureThreshold: 1 } },
});

test('a probe that hangs the event loop is named and ends the process, and is not made after the second time', async (t) => {
  const port = await portOf(t, listenWith(createServer(), '127.0.0.66'));
  const folder = temporaryFolder(t);

  const first = await started(t, folder);
  await first.ask('PUT', '/v1/namespaces/default/targets/good', target('127.0.0.1', port));
  await first.ask('PUT', '/v1/namespaces/default/targets/bad', target('127.0.0.66', port));
  assert.deepEqual(await first.ended(), { how: 'SIGKILL', named: ['default/bad main readiness'] });

  const second = await started(t, folder);
  assert.deepEqual(await second.ended(), { how: 'SIGKILL', named: ['default/bad main readiness'] });

  const third = await started(t, folder);
  const { body } = await third.ask('GET', '/healthz');
  assert.equal(body.quarantined.length, 1);
  assert.match(JSON.stringify(body.quarantined), /default\/bad#HANG.*main#readiness: the prober hung 2 times/);
  assert.equal(body.status, 'ok');
});

test('a long turn of many short pieces of work is no hang', async (t) => {
  const busy = await started(t, temporaryFolder(t));
  assert.ok(await busy.works(5 * hangMs), 'the process was ended while it made progress');
});
