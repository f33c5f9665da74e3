/** Which sessions are kept, and for how long a server is offered none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tlsSessions } from '../../../shared/prober/tls/sessions.ts';

const kib = 1_024;

function sessions() {
  let nowMs = 0;
  const { open } = tlsSessions({ monotonicMs: () => nowMs });
  const offered = (server: string) => open(server).session;
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { open, offered, pass };
}

test('the last session that a server gave is offered, to that server alone', () => {
  const { open, offered } = sessions();
  const { session, keep } = open('a');
  assert.equal(session, undefined);
  keep(Buffer.from('1'));
  keep(Buffer.from('2'));
  assert.deepEqual([offered('a'), offered('b')], [Buffer.from('2'), undefined]);
});

test('a server that failed with a session is offered none for an hour, whatever it gives', () => {
  const { open, offered, pass } = sessions();
  const { keep, failed } = open('a');
  keep(Buffer.from('1'));
  failed();
  keep(Buffer.from('2'));
  assert.equal(offered('a'), undefined);
  pass(3_600_000);
  assert.equal(offered('a'), undefined);
  keep(Buffer.from('3'));
  assert.deepEqual(offered('a'), Buffer.from('3'));
});

test('a session above 8 KiB is not kept', () => {
  const { open, offered } = sessions();
  open('a').keep(Buffer.alloc(8 * kib));
  open('b').keep(Buffer.alloc(8 * kib + 1));
  assert.deepEqual([offered('a')?.length, offered('b')], [8 * kib, undefined]);
});

test('beyond 32 MiB those go that have not been used for longest', () => {
  const { open, offered } = sessions();
  const fitting = Math.floor((32 * kib * kib) / (8 * kib + 512));
  for (let at = 0; at < fitting; at += 1) open(`${at}`).keep(Buffer.alloc(8 * kib));
  assert.ok(offered('0'));
  open('one more').keep(Buffer.alloc(8 * kib));
  open('0').keep(Buffer.alloc(8 * kib));
  const kept = ['0', '1', '2', 'one more'].map((server) => offered(server) !== undefined);
  assert.deepEqual(kept, [true, false, true, true]);
});
