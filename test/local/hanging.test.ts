import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import type { Orders } from './hanging-prober.ts';

const periodSeconds = 4;
const orders = { healthy: 100, hanging: 1_500, dead: 4, periodSeconds, timeoutSeconds: 3 };
/** Until every target has been asked once, with three quarters of the room: 1,500 × 3 s. */
const settleMs = 14_000;
const measuredMs = 14_000;
const lateMsMax = 500;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function answerTo(child: ChildProcess, message?: object | string): Promise<unknown> {
  const answer = once(child, 'message');
  if (message !== undefined) child.send(message);
  const exit = once(child, 'exit').then(([code]) => {
    throw new Error(`exited: ${code}`);
  });
  const [answered] = await Promise.race([answer, exit]);
  exit.catch(() => undefined);
  return answered;
}

/** As Lambda has it. */
function startProber(): ChildProcess {
  const command = 'ulimit -n 1024 && exec "$@"';
  const node = [process.execPath, path('hanging-prober.ts')];
  return spawn('/bin/sh', ['-c', command, 'sh', ...node], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

/** How much longer than a period it took from one probe to the next, ascending. */
function latenesses(asked: { readonly [path: string]: readonly number[] }, fromMs: number): readonly number[] {
  return Object.values(asked)
    .flatMap((times) => {
      const measured = times.filter((atMs) => atMs >= fromMs);
      return measured.slice(1).map((atMs, at) => Math.max(0, atMs - (measured[at] ?? atMs) - periodSeconds * 1000));
    })
    .sort((a, b) => a - b);
}

test('1,500 targets that hang, at 1,024 descriptors, and four dead names make no healthy target late', async (t) => {
  const targets = fork(path('hanging-targets.ts'));
  t.after(() => targets.disconnect());
  const ports = (await answerTo(targets)) as Orders['ports'];
  const prober = startProber();
  t.after(() => prober.kill('SIGKILL'));
  await answerTo(prober);
  await answerTo(prober, { ...orders, ports } satisfies Orders);
  await sleep(systemClock, settleMs);
  const fromMs = Date.now();
  await sleep(systemClock, measuredMs);
  const asked = (await answerTo(targets, 'asked')) as { readonly [path: string]: readonly number[] };
  const ended = (await answerTo(prober, 'end')) as { readonly [name: string]: unknown };
  const late = latenesses(asked, fromMs);
  const p99 = late[Math.floor(late.length * 0.99)] ?? Number.POSITIVE_INFINITY;
  t.diagnostic(
    `lateness of ${late.length} healthy probes: p50 ${late[late.length >> 1]} ms, p99 ${p99} ms, max ${late.at(-1)} ms`,
  );
  t.diagnostic(JSON.stringify(ended));
  assert.equal(Object.keys(asked).length, orders.healthy);
  assert.ok(late.length >= orders.healthy * 2, `${late.length} measured`);
  assert.ok(p99 < lateMsMax, `p99 ${p99} ms`);
  assert.deepEqual([ended.doubt, ended.errors], [undefined, []]);
});
