import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { Resolution } from '../../shared/net/net.ts';
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

test('a command names the limit of processes where a socket names that of ports', () => {
  const { clock, log } = world();
  shortageLog(clock, log, 'command')('EAGAIN');
  assert.match(JSON.stringify(log.lines), /command refused by the machine.*RLIMIT_NPROC/);
});

/** A dialer whose sockets the machine refuses with these codes, one after the other, and what it reports of them. */
function refusedDial(refusals: readonly string[], resolution: Resolution) {
  const logged: string[] = [];
  const permitted: string[] = [];
  const left = [...refusals];
  const dial = guardedDialer({
    resolve: async () => resolution,
    policy: () => true,
    clock: virtualClock(),
    onFailed: (code) => logged.push(code),
    newSocket() {
      const socket = peerSocket();
      socket.connect = () => socket.destroy(Object.assign(new Error('no more'), { code: left.shift() }));
      return socket;
    },
  });
  const permit = {
    closing: () => undefined,
    opened: () => () => undefined,
    refused: (code: string) => permitted.push(code),
  };
  return { logged, permitted, dial: (host: string) => dial({ host, port: 1, deadlineMs: 1_000, permit }) };
}

const twoAddresses: Resolution = { kind: 'resolved', addresses: ['127.0.0.1', '127.0.0.2'] };

test('a dial that the machine refuses is a prober error, and its code is reported to log and permit', async () => {
  const { dial, logged, permitted } = refusedDial(['EMFILE'], twoAddresses);
  const dialed = await dial('127.0.0.1');
  assert.equal(dialed.kind === 'failed' && dialed.failureClass, 'PROBER');
  assert.deepEqual([logged, permitted], [['EMFILE'], ['EMFILE']]);
});

test('without a free socket a name is a prober error, whatever its other address would answer', async () => {
  const { dial, logged } = refusedDial(['EMFILE', 'EHOSTUNREACH'], twoAddresses);
  const dialed = await dial('two.test');
  assert.deepEqual([dialed.kind === 'failed' && dialed.code, logged], ['EMFILE', ['EMFILE']]);
});

test('a lookup that the machine refuses is reported as a dial is', async () => {
  const resolution: Resolution = { kind: 'unavailable', message: 'too many open files', code: 'EMFILE' };
  const { dial, logged, permitted } = refusedDial([], resolution);
  const dialed = await dial('name.test');
  assert.equal(dialed.kind === 'failed' && dialed.failureClass, 'PROBER');
  assert.deepEqual([logged, permitted], [['EMFILE'], ['EMFILE']]);
});
