import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { peerSocket } from '../../shared/net/reading.ts';
import { shortageLog } from '../../shared/net/shortage.ts';
import { columns } from '../support/columns.ts';
import { recordingLog } from '../support/recording-log.ts';
import { virtualClock } from '../support/virtual-clock.ts';

function world() {
  const clock = virtualClock();
  const log = recordingLog();
  return { clock, log, refused: shortageLog(clock, log) };
}

test('a limit is named once a minute, with how often it was met', async () => {
  const { clock, log, refused } = world();
  for (let minute = 0; minute < 2; minute += 1) {
    for (let at = 0; at < 100; at += 1) refused('EMFILE');
    await clock.advance(60_000);
  }
  assert.deepEqual(
    log.lines.map(({ fields }) => [fields?.code, fields?.refused]),
    [
      ['EMFILE', 1],
      ['EMFILE', 100],
    ],
  );
  assert.match(JSON.stringify(log.lines[0]), /RLIMIT_NOFILE.*ulimit -n/);
});

test('each limit has its own line, and what a target does has none', () => {
  const { log, refused } = world();
  for (const code of [
    'ENFILE',
    'EADDRNOTAVAIL',
    'EAGAIN',
    'ENOBUFS',
    'ENOMEM',
    'ECONNREFUSED',
    'ECONNRESET',
    'toString',
  ])
    refused(code);
  assert.deepEqual(new Set(columns(log.lines, 'level').flat()), new Set(['warn']));
  assert.equal(log.lines.length, 5);
});

test('a dial that the machine refuses is a prober error, and its code is reported', async () => {
  const codes: string[] = [];
  const dial = guardedDialer({
    resolve: async () => ({ kind: 'resolved', addresses: [] }),
    policy: () => true,
    clock: virtualClock(),
    onFailed: (code) => codes.push(code),
    newSocket() {
      const socket = peerSocket();
      socket.connect = () => socket.destroy(Object.assign(new Error('no more'), { code: 'EMFILE' }));
      return socket;
    },
  });
  const dialed = await dial({ host: '127.0.0.1', port: 1, deadlineMs: 1_000 });
  assert.equal(dialed.kind === 'failed' && dialed.failureClass, 'PROBER');
  assert.deepEqual(codes, ['EMFILE']);
});
