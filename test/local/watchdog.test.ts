/** A probe that hangs the event loop of a real process. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listenWith } from '../support/tcp-server.ts';

const program = join(import.meta.dirname, 'hanging-process.ts');
const hangMs = 600;
/** Of a process that nobody ends. */
const patienceMs = 15_000;

type Answer = { readonly status: number; readonly body: { readonly [field: string]: unknown } };

class Process {
  readonly child: ChildProcess;
  output = '';

  constructor(t: TestContext, folder: string) {
    const options = { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] as ['ignore', 'pipe', 'inherit', 'ipc'] };
    this.child = fork(program, [folder, String(hangMs)], options);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    t.after(() => this.child.kill('SIGKILL'));
  }

  async ask(method: string, path: string, body?: object): Promise<Answer> {
    this.child.send({ method, path, body });
    const [answer] = await once(this.child, 'message');
    return answer;
  }

  /** How it ended. */
  async ended(): Promise<string> {
    const patience = AbortSignal.timeout(patienceMs);
    return once(this.child, 'close', { signal: patience }).then(
      ([, signal]) => String(signal),
      () => 'it runs on',
    );
  }
}

const target = (address: string, port: number) => ({
  spec: { host: address, readinessProbe: { tcpSocket: { port }, periodSeconds: 1, failureThreshold: 1 } },
});

test('a probe that hangs the event loop is named and ends the process, and is not probed after the second time', async (t) => {
  const server = await listenWith(createServer(), '127.0.0.66');
  t.after(server.close);
  const folder = mkdtempSync(join(tmpdir(), 'probelet-'));
  t.after(() => rmSync(folder, { recursive: true }));

  const first = new Process(t, folder);
  await once(first.child, 'message');
  await first.ask('PUT', '/v1/namespaces/default/targets/bad', target('127.0.0.66', server.port));
  assert.equal(await first.ended(), 'SIGKILL');
});
