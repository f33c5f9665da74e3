/** Which client of the API gives way where connections become few. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import {
  boundConnections,
  type Connection,
  clientEvent,
  leastMissed,
} from '../../../functions/local/server/connections.ts';

type Given = {
  readonly requests?: number;
  readonly isWaiting?: boolean;
  readonly isClosed?: boolean;
  readonly isSending?: boolean;
};

const nowMs = 10_000;
const newMax = 8;

/** Names of connections with the time since when each is as it is; the longest comes first. */
function chosen(all: readonly (readonly [name: string, agoMs: number, given?: Given])[]): string | undefined {
  const names = new Map<Connection, string>();
  const underWay = new Map(
    all.map(([name, agoMs, given = {}]) => {
      const { requests = 0, isWaiting = false, isClosed = false, isSending = false } = given;
      const connection = Object.assign(new Duplex(), { isWaiting, isSending });
      if (isClosed) connection.destroy();
      names.set(connection, name);
      return [connection as Connection, { requests, sinceMs: nowMs - agoMs }];
    }),
  );
  const connection = leastMissed(underWay, newMax, nowMs);
  return connection && names.get(connection);
}

const manyNew = Array.from({ length: 9 }, (_, at) => [`new ${at}`, 10 - at] as const);

const old = {
  idle: ['idle', 800],
  asking: ['asking', 900, { requests: 1 }],
  gone: ['gone', 900, { isClosed: true }],
} as const;
const waiting = (agoMs: number) => ['waiting', agoMs, { isWaiting: true }] as const;
const sending = (agoMs: number) => ['sending', agoMs, { requests: 1, isSending: true }] as const;
const justNow = ['new', 10] as const;

describe('the client that gives way', () => {
  for (const [what, all, expected] of [
    ['has been idle for longest', [old.idle, ['b', 700], justNow], 'idle'],
    ['is not one with a request in progress', [old.asking, old.idle], 'idle'],
    ['is not one that has gone', [old.gone, old.idle], 'idle'],
    ['is not one whose request waits, where another is idle', [waiting(9_000), old.idle], 'idle'],
    ['is not one that has just connected', [old.asking, justNow], undefined],
    ['is one that has just connected, where many have', manyNew, 'new 0'],
    ['is not one whose request has just come', [waiting(90), justNow], undefined],
    ['is one whose request has waited long, where none is idle', [waiting(200), justNow], 'waiting'],
    ['is not one whose body is read, where the request of another waits', [sending(900), waiting(200)], 'waiting'],
    [
      'is one whose body has not been read for long, where all others are answered',
      [old.asking, sending(200)],
      'sending',
    ],
    ['is not one whose body has just come', [old.asking, sending(90)], undefined],
  ] as const)
    test(what, () => assert.equal(chosen(all), expected));
});

describe('a server with few connections has room for one more beside a crowd that says nothing', () => {
  for (const max of [2, 3, 4, 5, 7, 8, 16, 31, 64, 512])
    test(`of ${max}`, () => {
      const server = Object.assign(new EventEmitter(), { maxConnections: 0 });
      boundConnections(server as unknown as Pick<Server, 'maxConnections' | 'on'>, max);
      const open = new Set<Duplex>();
      for (let at = 0; at < 3 * max; at += 1) {
        assert.ok(open.size < server.maxConnections, `no room for client ${at}`);
        const client = new Duplex({ destroy: () => void open.delete(client) });
        open.add(client);
        server.emit(clientEvent, client);
      }
    });
});
