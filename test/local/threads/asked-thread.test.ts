/** A thread that is asked: what it costs when it hangs, ends or is not needed any more. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AskedThread } from '../../../functions/local/threads/asked-thread.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Answers with the thread that it is, late, never, or not at all. */
const script = `
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', (asked) => {
    if (asked === 'hang') for (;;);
    if (asked === 'end') process.exit(0);
    if (asked === 'fail') throw new Error('a defect');
    parentPort.postMessage({ kind: 'answer', asked, threadId });
  });
`;

type Answer = { readonly kind: 'answer'; readonly asked: string; readonly threadId: number };

function threadFor(t: TestContext, msMax = 60_000): AskedThread<string, Answer> {
  const path = join(temporaryFolder(t), 'thread.mjs');
  writeFileSync(path, script);
  const thread = new AskedThread<string, Answer>({
    url: pathToFileURL(path),
    heapMbMax: 64,
    msMax,
    clock: systemClock,
  });
  t.after(() => thread.end());
  return thread;
}

const { signal } = new AbortController();

async function answerOf(thread: AskedThread<string, Answer>, asked: string): Promise<Answer> {
  const answer = await thread.ask(asked, signal);
  assert.ok(answer.kind === 'answer' && answer.asked === asked, JSON.stringify(answer));
  return answer;
}

test('questions are answered by one thread, until it is ended', async (t) => {
  const thread = threadFor(t);
  const [first, second] = [await answerOf(thread, 'a'), await answerOf(thread, 'b')];
  assert.equal(first.threadId, second.threadId);
  await thread.end();
  assert.notEqual((await answerOf(thread, 'c')).threadId, first.threadId);
});

for (const [asked, detail] of [
  ['end', 'cannot be read: the thread has ended'],
  ['fail', 'cannot be read: a defect'],
] as const)
  test(`after a question that lets it ${asked}, another thread has the next`, async (t) => {
    const thread = threadFor(t);
    assert.deepEqual(await thread.ask(asked, signal), { kind: 'none', detail });
    await answerOf(thread, 'next');
  });

test('after a question that takes too long, another thread has the next', async (t) => {
  const thread = threadFor(t, 2_000);
  const detail = 'takes longer than 2 s to read';
  assert.deepEqual(await thread.ask('hang', signal), { kind: 'none', detail });
  await answerOf(thread, 'next');
});

test('a question whose answer no longer matters is given up, and its thread with it', async (t) => {
  const thread = threadFor(t);
  const { threadId } = await answerOf(thread, 'a');
  const stop = new AbortController();
  const given = thread.ask('hang', stop.signal);
  stop.abort();
  assert.deepEqual(await given, { kind: 'none', detail: 'was not read before the stop' });
  assert.notEqual((await answerOf(thread, 'next')).threadId, threadId);
});
