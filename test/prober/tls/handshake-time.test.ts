/** How long an HTTPS probe waits for a TLS handshake: as Go's transport, 10 s at most, and no longer than the probe. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { startDeadline } from '../../../shared/prober/deadline.ts';
import { httpProber } from '../../../shared/prober/http/http.ts';
import { secure } from '../../../shared/prober/tls/tls.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { loopbackDial } from '../../support/loopback-dial.ts';
import { startWireServer, type WireServer } from '../../support/wire-server.ts';

const prober = httpProber({ dial: loopbackDial, clock: fastClock });
const byProbe = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
const byTransport = 'net/http: TLS handshake timeout';

async function probed(t: TestContext, server: WireServer, timeoutSeconds: number, from = 'https') {
  const fill = (text: string) => text.replaceAll('{PORT}', String(running.port));
  const running = await startWireServer(server, { seen: () => undefined, fill });
  t.after(() => running.close());
  const url = `${from}://127.0.0.1:${running.port}/`;
  const timeoutMs = timeoutSeconds * 1_000;
  const attempt = await prober({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs });
  return { ...attempt, port: running.port };
}

const silent: WireServer = { kind: 'accept-silent' };

for (const [timeoutSeconds, text] of [
  [1, byProbe],
  [3, byProbe],
  [10, byProbe],
  [11, byTransport],
  [12, byTransport],
  [60, byTransport],
] as const)
  test(`a handshake that the server never answers ends a probe of ${timeoutSeconds} s with ${text}`, async (t) => {
    const { outcome, failureClass, output, port, timings } = await probed(t, silent, timeoutSeconds);
    assert.deepEqual([outcome, failureClass], ['failure', 'TIMEOUT']);
    assert.equal(output, `Get "https://127.0.0.1:${port}/": ${text}`);
    assert.ok(timings.totalMs >= Math.min(timeoutSeconds, 10) * 1_000, String(timings.totalMs));
  });

test('a probe of 60 s does not wait for its own end', async (t) =>
  assert.ok((await probed(t, silent, 60)).timings.totalMs < 60_000));

test('a server that is silent after the handshake has all the time of the probe', async (t) => {
  const server: WireServer = { kind: 'raw', tls: 'self-signed', routes: { '*': [{ hold: true }] } };
  const { output, port, timings } = await probed(t, server, 15);
  assert.equal(output, `Get "https://127.0.0.1:${port}/": ${byProbe}`);
  assert.ok(timings.totalMs >= 15_000, String(timings.totalMs));
});

test('a handshake that begins when the probe is over ends at once', async (t) => {
  const quiet = await startWireServer(silent);
  t.after(() => quiet.close());
  const deadline = startDeadline(fastClock, 0);
  await new Promise<void>((over) => deadline.whenOver(over));
  const socket = connect(quiet.port, '127.0.0.1');
  const secured = await secure(socket, { hostname: '127.0.0.1', clock: fastClock, deadline });
  assert.deepEqual(secured, { kind: 'failed', failureClass: 'TIMEOUT', message: byProbe, isRetried: false });
});

test('each handshake of a probe has its own 10 s', async (t) => {
  const quiet = await startWireServer(silent);
  t.after(() => quiet.close());
  const location = `https://127.0.0.1:${quiet.port}/`;
  const head = `HTTP/1.1 302 F\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
  const late: WireServer = { kind: 'raw', routes: { '*': [{ sleepMs: 250 }, { send: head }] } };
  const { output, timings } = await probed(t, late, 60, 'http');
  assert.equal(output, `Get "${location}": ${byTransport}`);
  assert.ok(timings.totalMs >= 15_000, String(timings.totalMs));
});
