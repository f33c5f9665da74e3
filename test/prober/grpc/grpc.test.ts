import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { Attempt } from '../../../shared/core/spec/types.ts';
import { type Clock, systemClock } from '../../../shared/lib/clock.ts';
import type { Dial } from '../../../shared/net/net.ts';
import { grpcProber } from '../../../shared/prober/grpc/grpc.ts';
import { checkResponse, type GrpcServerSpec, startGrpcServer, startHttp2 } from '../../support/grpc-server.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { listenWith, type RunningServer } from '../../support/tcp-server.ts';

const host = '127.0.0.1';
const patientMs = 10_000;
const briefMs = 200;

const servers: RunningServer[] = [];
const sockets: Socket[] = [];
const watchedDial: Dial = async (request) => {
  const dialed = await loopbackDial(request);
  if (dialed.kind === 'connected') sockets.push(dialed.socket);
  return dialed;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const socket of sockets.splice(0)) assert.ok(socket.destroyed, 'a socket was left open');
});

type Options = { readonly service?: string; readonly timeoutMs?: number; readonly dial?: Dial; readonly clock?: Clock };

function probe(port: number, options: Options = {}): Promise<Attempt> {
  const { service = '', timeoutMs = patientMs, dial = watchedDial, clock = systemClock } = options;
  return grpcProber({ dial, clock })({ kind: 'grpc', host, port, service, timeoutMs });
}

async function probed(spec: GrpcServerSpec, options: Options = {}): Promise<Attempt & { readonly port: number }> {
  const server = await startGrpcServer(spec);
  servers.push(server);
  return { ...(await probe(server.port, options)), port: server.port };
}

/** A server that does this with each call. */
async function probedBy(
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  options: Options = {},
): Promise<Attempt> {
  const server = await startHttp2({}, onStream);
  servers.push(server);
  return probe(server.port, options);
}

const grpcHeaders = { ':status': 200, 'content-type': 'application/grpc' };

describe('a health service', () => {
  test('that serves succeeds', async () => {
    const attempt = await probed({ kind: 'grpc-health', statuses: { '': 'SERVING' } });
    assert.deepEqual([attempt.outcome, attempt.output], ['success', 'service healthy']);
    const { connectMs, firstByteMs, totalMs } = attempt.timings;
    assert.ok(connectMs !== undefined && firstByteMs !== undefined && connectMs + firstByteMs <= totalMs);
  });
  test('is asked for the service by name', async () => {
    const service = 'ü'.repeat(200);
    const attempt = await probed({ kind: 'grpc-health', statuses: { [service]: 'SERVING' } }, { service });
    assert.equal(attempt.output, 'service healthy');
  });
  for (const status of ['UNKNOWN', 'NOT_SERVING', 'SERVICE_UNKNOWN', '7', '-1'])
    test(`that is ${status} fails`, async () => {
      const attempt = await probed({ kind: 'grpc-health', statuses: { '': status } });
      assert.equal(attempt.output, `service unhealthy (responded with "${status}")`);
      assert.deepEqual([attempt.outcome, attempt.failureClass], ['failure', 'GRPC_NOT_SERVING']);
    });
  test('that does not know the service fails', async () => {
    const attempt = await probed({ kind: 'grpc-health', statuses: {} }, { service: 'x' });
    assert.equal(attempt.output, 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service');
    assert.equal(attempt.failureClass, 'GRPC_STATUS');
  });
  test('that answers too late fails', async () => {
    const spec = { kind: 'grpc-health', statuses: { '': 'SERVING' }, delayMs: patientMs } as const;
    const attempt = await probed(spec, { timeoutMs: briefMs });
    assert.equal(attempt.output, 'timeout: health rpc did not complete within 200ms');
    assert.equal(attempt.failureClass, 'TIMEOUT');
  });
  test('that says itself that it is late reads the same', async () => {
    const attempt = await probed({ kind: 'grpc-health', codeNumber: 4, message: 'slow' });
    assert.equal(attempt.output, 'timeout: health rpc did not complete within 10s');
  });
  test('that does not exist is reported as not implemented', async () => {
    const attempt = await probed({ kind: 'grpc-no-health-service' });
    assert.equal(
      attempt.output,
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service grpc.health.v1.Health',
    );
  });
});

describe('what does not greet as an HTTP/2 server is not connected in time', () => {
  for (const kind of ['accept-silent', 'accept-close', 'http1', 'grpc-health-tls', 'backlog-full', 'closed'] as const)
    test(kind, async () => {
      const { outcome, output, port } = await probed({ kind }, { timeoutMs: briefMs });
      assert.equal(outcome, 'failure');
      const address = `"127.0.0.1:${port}"`;
      assert.equal(output, `timeout: failed to connect service ${address} within 200ms: context deadline exceeded`);
    });
  test('and the class keeps a refusal apart', async () => {
    const refused = await probed({ kind: 'closed' }, { timeoutMs: briefMs });
    const silent = await probed({ kind: 'accept-silent' }, { timeoutMs: briefMs });
    assert.deepEqual([refused.failureClass, silent.failureClass], ['CONNECT_REFUSED', 'CONNECT_TIMEOUT']);
  });
});

/** Time that runs a hundred times as fast as the machine's. */
const fastClock: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs() * 100,
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs / 100, callback),
};

describe('until the deadline', () => {
  const refusal = { kind: 'failed', failureClass: 'CONNECT_REFUSED', message: 'refused' } as const;
  function refusing(times: number): { readonly dial: Dial; readonly dialedAtMs: readonly number[] } {
    const dialedAtMs: number[] = [];
    const dial: Dial = async (request) => {
      dialedAtMs.push(fastClock.monotonicMs());
      return dialedAtMs.length <= times
        ? refusal
        : watchedDial({ ...request, deadlineMs: systemClock.monotonicMs() + patientMs });
    };
    return { dial, dialedAtMs };
  }

  test('a refused connection is tried again, later each time', async () => {
    const { dial, dialedAtMs } = refusing(2);
    const spec = { kind: 'grpc-health', statuses: { '': 'SERVING' } } as const;
    const attempt = await probed(spec, { dial, clock: fastClock, timeoutMs: 600_000 });
    assert.equal(attempt.outcome, 'success');
    const [first = 0, second = 0, third = 0] = dialedAtMs;
    assert.ok(second - first >= 900 && third - second >= 1500, `dialed at ${dialedAtMs}`);
  });
  test('a dead port costs few tries', async () => {
    const { dial, dialedAtMs } = refusing(Number.POSITIVE_INFINITY);
    const attempt = await probe(1, { dial, clock: fastClock, timeoutMs: 60_000 });
    assert.match(attempt.output, /^timeout: failed to connect service "127.0.0.1:1" within 1m0s: /);
    assert.ok(dialedAtMs.length >= 2 && dialedAtMs.length <= 8, `dialed ${dialedAtMs.length} times`);
  });
});

describe('a prober error, reported at once', () => {
  for (const failureClass of ['POLICY_DENIED', 'PROBER'] as const)
    test(failureClass, async () => {
      let dials = 0;
      const dial: Dial = async () => {
        dials += 1;
        return { kind: 'failed', failureClass, message: 'why' };
      };
      const attempt = await probe(1, { dial });
      assert.deepEqual([attempt.outcome, attempt.error], ['unknown', 'why']);
      assert.deepEqual([attempt.failureClass, dials], [failureClass, 1]);
    });
});

describe('a server that breaks off', () => {
  const reset = 'stream terminated by RST_STREAM with error code:';
  const lost = 'code = Unavailable desc = error reading from server: EOF';
  const noTrailers = 'code = Internal desc = server closed the stream without sending trailers';
  type Row = readonly [what: string, onStream: (stream: ServerHttp2Stream) => void, says: string];
  const rows: readonly Row[] = [
    [
      'resetting the stream',
      (stream) => stream.close(11),
      `code = ResourceExhausted desc = ${reset} ENHANCE_YOUR_CALM`,
    ],
    ['cancelling the stream', (stream) => stream.close(8), `code = Canceled desc = ${reset} CANCEL`],
    ['closing the connection', (stream) => stream.session?.socket.destroySoon(), lost],
    [
      'closing the connection within the answer',
      (stream) => {
        stream.respond(grpcHeaders, { waitForTrailers: true });
        stream.write(checkResponse('SERVING'), () => stream.session?.socket.destroySoon());
      },
      lost,
    ],
    [
      'ending without trailers',
      (stream) => {
        stream.respond(grpcHeaders);
        stream.end(checkResponse('SERVING'));
      },
      noTrailers,
    ],
  ];
  for (const [what, onStream, says] of rows)
    test(`by ${what}`, async () => {
      const { output } = await probedBy(onStream);
      assert.equal(output, `error: health rpc probe failed: rpc error: ${says}`);
    });
});

function onceDial(): Dial {
  let dials = 0;
  return async (request) => {
    dials += 1;
    return dials === 1 ? watchedDial(request) : { kind: 'failed', failureClass: 'CONNECT_REFUSED', message: 'gone' };
  };
}

describe('a call that the server did not begin', () => {
  test('is made once more', async () => {
    let calls = 0;
    const attempt = await probedBy((stream) => {
      calls += 1;
      if (calls === 1) return stream.close(7);
      stream.respond({ ...grpcHeaders, 'grpc-status': '9', 'grpc-message': 'second' }, { endStream: true });
    });
    assert.match(attempt.output, /code = FailedPrecondition desc = second$/);
    assert.equal(calls, 2);
  });
  test('reads as unavailable when there is no connection any more', async () => {
    const dial = onceDial();
    const attempt = await probedBy((stream) => stream.close(7), { dial });
    assert.match(attempt.output, /code = Unavailable desc = /);
  });
  test('is made no third time', async () => {
    let calls = 0;
    const attempt = await probedBy((stream) => {
      calls += 1;
      stream.close(7);
    });
    const refused = /code = Unavailable desc = stream terminated by RST_STREAM with error code: REFUSED_STREAM$/;
    assert.match(attempt.output, refused);
    assert.equal(calls, 2);
  });
});

describe('an answer that is decided does not wait for a server that holds the stream', () => {
  test('when it is not gRPC', async () => {
    const attempt = await probedBy((stream) => stream.respond({ ':status': 404, 'content-type': 'text/html' }));
    assert.equal(
      attempt.output,
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected content-type "text/html"',
    );
  });
  test('when it is too large, or endless', async () => {
    const attempt = await probedBy((stream) => {
      stream.respond(grpcHeaders);
      const zeros = Buffer.alloc(16_384, 0xff);
      const write = () => stream.destroyed || stream.write(zeros, () => setImmediate(write));
      write();
    });
    assert.match(attempt.output, /code = ResourceExhausted desc = grpc: received message larger than max/);
  });
});

test('an informational header block is skipped', async () => {
  const attempt = await probedBy((stream) => {
    stream.additionalHeaders({ ':status': 103 });
    stream.respond({ ...grpcHeaders, 'grpc-status': '9' }, { endStream: true });
  });
  assert.match(attempt.output, /code = FailedPrecondition desc = $/);
});

test('a server that greets and says goodbye in one breath ends the probe by its deadline', async () => {
  const { createServer: createHttp2 } = await import('node:http2');
  const http2 = createHttp2();
  http2.on('sessionError', () => undefined);
  http2.on('session', (session: ServerHttp2Session) => session.close());
  const server = await listenWith(http2, host);
  servers.push(server);
  const attempt = await probe(server.port, { timeoutMs: briefMs });
  assert.equal(attempt.outcome, 'failure');
});

/** Greets with empty SETTINGS, and answers the request with these bytes. */
async function probedByBytes(bytes: readonly number[]): Promise<Attempt> {
  const server = await listenWith(
    createServer((socket) => {
      let received = 0;
      socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      socket.on('data', (chunk) => {
        received += chunk.length;
        if (received > requestBytesMin) socket.write(Buffer.from(bytes));
      });
    }),
    host,
  );
  servers.push(server);
  return probe(server.port);
}
/** The preface and the client's SETTINGS are shorter. */
const requestBytesMin = 100;

test('bytes that are no HTTP/2 after the greeting end the call', async () => {
  const attempt = await probedByBytes(Array.from({ length: 64 }, () => 0xff));
  assert.match(attempt.output, /^error: health rpc probe failed: rpc error: code = \w+ desc = /);
});

test('a goodbye to the call itself ends it, asked twice', async () => {
  const goAway = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const attempt = await probedByBytes(goAway);
  assert.match(attempt.output, /code = Unavailable desc = /);
  assert.equal(attempt.failureClass, 'GRPC_STATUS');
});
