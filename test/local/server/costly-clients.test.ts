/**
 * Requests that each take far longer than a slice of the event loop, by many clients at once: others have the loop for
 * half of the time. Compares times of one run, so a slow machine changes nothing.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { crowdedApiServer } from '../../support/crowded-api-server.ts';
import { spin } from '../../support/per-turn.ts';
import { until } from '../../support/wait.ts';

const clientCount = 10;
const requestMs = 15;
const enough = 30;
const patienceMs = 60_000;

/** What they may take of the time: half, and without a token as much for first requests as for all others. */
const clients: Readonly<Record<string, { readonly isKnown: boolean; readonly shareMax: number }>> = {
  'with a token': { isKnown: true, shareMax: 0.6 },
  'without one': { isKnown: false, shareMax: 0.35 },
};

for (const [name, { isKnown, shareMax: most }] of Object.entries(clients))
  test(`requests of ${requestMs} ms from many clients ${name} leave the loop to others`, async (t: TestContext) => {
    let taken = 0;
    let answers = 0;
    const fetch = () => {
      const startMs = performance.now();
      spin(requestMs);
      taken += performance.now() - startMs;
      answers += 1;
      return new Response('ok');
    };
    const { open } = await crowdedApiServer(t, fetch, () => isKnown);
    const opened = open(clientCount);
    await Promise.all(opened.map((client) => once(client, 'connect')));
    const text = `GET /v1/targets HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(enough);
    // First requests have a part of their own.
    const first = Promise.all(opened.map((client) => once(client, 'data')));
    for (const client of opened) client.resume().write(text);
    await first;
    const [startMs, before] = [performance.now(), taken];
    const wanted = answers + (isKnown ? enough : enough / 4);
    await until('more answers', { withinMs: patienceMs, pollMs: 5 }, () => answers >= wanted);
    const share = (taken - before) / (performance.now() - startMs);
    assert.ok(share <= most, `they had ${share.toFixed(2)} of the time`);
  });
