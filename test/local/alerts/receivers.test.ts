/** Alerts by mail, to a real SMTP server, and by commands of this machine. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { alertSender } from '../../../functions/local/alerts/alert-sender.ts';
import { readConfigFile } from '../../../functions/local/config/config-file.ts';
import type { SendOutcome } from '../../../shared/alerts/delivery.ts';
import type { Receiver } from '../../../shared/alerts/formats/receiver.ts';
import { testNotifications } from '../../../shared/alerts/notification-text.ts';
import { parseAllowList } from '../../../shared/exec/allow-list.ts';
import { type Clock, systemClock } from '../../../shared/lib/clock.ts';
import { startMs } from '../../api/world.ts';
import { localhostCertificate } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const password = 'correct-horse-battery';
const certificate = localhostCertificate();
const [firing, resolved] = testNotifications('r', 'test-1', startMs);

type MailServer = { readonly port: number; readonly mails: string[]; readonly secured: boolean[] };

async function mailServer(t: TestContext, options: SMTPServerOptions): Promise<MailServer> {
  const mails: string[] = [];
  const secured: boolean[] = [];
  const server = new SMTPServer({
    ...certificate,
    authOptional: true,
    onAuth: (auth, session, done) => {
      secured.push(session.secure);
      if (auth.password === password) done(null, { user: auth.username });
      else done(Object.assign(new Error(`no ${auth.password}`), { responseCode: 535 }));
    },
    onData: (stream, _, done) => {
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      stream.on('end', () => {
        mails.push(text);
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, mails, secured };
}

const receiverAt = (port: number, over: Partial<Extract<Receiver, { kind: 'email' }>> = {}): Receiver => ({
  kind: 'email',
  name: 'r',
  host: 'localhost',
  port,
  tls: 'starttls',
  ca: certificate.cert,
  login: { user: 'probelet', password },
  from: 'probelet@example.org',
  to: ['ops@example.org', 'boss@example.org'],
  ...over,
});

async function sent(receiver: Receiver, notification = firing): Promise<SendOutcome> {
  const { send, close } = alertSender([receiver], { clock: systemClock });
  try {
    return await send('r', notification, AbortSignal.timeout(10_000));
  } finally {
    await close();
  }
}

describe('mail', () => {
  test('is sent with STARTTLS and a login, and its end is in the same thread', async (t) => {
    const { port, mails, secured } = await mailServer(t, {});
    assert.equal((await sent(receiverAt(port))).kind, 'delivered');
    assert.equal((await sent(receiverAt(port), resolved)).kind, 'delivered');
    assert.deepEqual(secured, [true, true]);
    const [first = '', second = ''] = mails;
    for (const line of [
      'Subject: [alert] test/test not ready: This is a test of probelet: nothing',
      'Message-ID: <test-1-firing-1@example.org>',
      'References: <test-1@example.org>',
      'To: ops@example.org, boss@example.org',
      'Auto-Submitted: auto-generated',
      'This is a test of probelet: nothing is wrong.',
    ])
      assert.ok(first.includes(line), `${line} in ${first}`);
    assert.match(second, /Subject: \[ok\] Resolved after 1m: test\/test not ready/);
    assert.match(second, /In-Reply-To: <test-1@example\.org>/);
  });

  test('is sent with implicit TLS', async (t) => {
    const { port, mails } = await mailServer(t, { secure: true });
    assert.equal((await sent(receiverAt(port, { tls: 'implicit' }))).kind, 'delivered');
    assert.equal(mails.length, 1);
  });

  test('does not fall back to plain text, and trusts no other certificate', async (t) => {
    const plain = await mailServer(t, { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
    assert.equal((await sent(receiverAt(plain.port))).kind, 'failed');
    const {
      login: _,
      ca: __,
      ...open
    } = receiverAt(plain.port, { tls: 'none' }) as Extract<Receiver, { kind: 'email' }>;
    assert.equal((await sent(open)).kind, 'delivered');
    assert.equal(plain.secured.length, 0);
    const other = await mailServer(t, {});
    assert.equal((await sent(receiverAt(other.port, { ca: localhostCertificate().cert }))).kind, 'failed');
    assert.equal(other.mails.length, 0);
  });

  test('that is refused for good is given up, and other failures are not', async (t) => {
    const refusing = (responseCode: number): SMTPServerOptions => ({
      onRcptTo: (_, __, done) => done(Object.assign(new Error('mailbox says no'), { responseCode })),
    });
    const outcomes = await Promise.all(
      [550, 451].map(async (code) => sent(receiverAt((await mailServer(t, refusing(code))).port))),
    );
    assert.deepEqual(outcomes, [
      { kind: 'refused', why: 'EENVELOPE 550', answer: '550 mailbox says no' },
      { kind: 'failed', why: 'EENVELOPE 451', answer: '451 mailbox says no' },
    ]);
    const { port } = await mailServer(t, {});
    const wrong = await sent(receiverAt(port, { login: { user: 'probelet', password: 'wrong-password' } }));
    assert.deepEqual(wrong, { kind: 'failed', why: 'EAUTH 535', answer: '535 no ***' });
  });
});

describe('a command', () => {
  const script = (t: TestContext, text: string) => {
    const folder = temporaryFolder(t);
    const path = join(folder, 'notify');
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return { path, out: join(folder, 'out') };
  };
  const allowing = (...lines: readonly string[]) => {
    const parsed = parseAllowList(lines.join('\n'));
    return parsed.kind === 'ok' ? parsed.allows : () => false;
  };
  const ran = async (
    command: readonly string[],
    allows = allowing(JSON.stringify(command)),
    clock: Clock = systemClock,
  ) => {
    const { send, close } = alertSender([{ kind: 'exec', name: 'r', command }], { clock, allows });
    const outcome = await send('r', firing, AbortSignal.timeout(10_000));
    await close();
    return outcome;
  };

  test('gets the notification on its standard input', async (t) => {
    const { path, out } = script(t, 'cat > "$1"; echo thanks; exit 0');
    assert.deepEqual(await ran([path, out]), { kind: 'delivered', answer: 'thanks' });
    const { type, data } = JSON.parse(readFileSync(out, 'utf8'));
    assert.deepEqual([type, data.id, data.incidents[0].name], ['probelet.alert.firing', 'test-1-firing-1', 'test']);
  });

  test('that fails or does not read is told apart, and its output is bounded', async (t) => {
    const { path } = script(t, 'head -c 100000 /dev/zero | tr "\\0" x; exit 3');
    const outcome = await ran([path]);
    assert.deepEqual([outcome.kind, 'why' in outcome && outcome.why], ['failed', 'exit code 3']);
    assert.equal(outcome.answer?.length, 200);
  });

  test('that hangs is ended', async (t) => {
    const { path } = script(t, 'sleep 60');
    const fast = { ...systemClock, setTimer: (ms: number, end: () => void) => systemClock.setTimer(ms / 20, end) };
    assert.deepEqual(await ran([path], allowing(path), fast), { kind: 'failed', why: 'not ended within 9.5 s' });
  });

  test('has to stand in the file of --allow-exec, with exactly these arguments', async (t) => {
    const { path, out } = script(t, 'cat > "$1"');
    const outcome = await ran([path, out], allowing(JSON.stringify([path])));
    assert.equal(outcome.kind, 'failed');
    const config = join(temporaryFolder(t), 'probelet.yaml');
    writeFileSync(config, `receivers:\n  - { name: r, exec: { command: ["${path}", a] } }\n`);
    const read = (line: string) => readConfigFile(config, { allows: allowing(line) }).alerts.receivers;
    assert.deepEqual(read(path), [{ kind: 'exec', name: 'r', command: [path, 'a'] }]);
    const message = `--config: ${config}:2:5: receivers[0].exec.command: is not allowed: name it in the file of --allow-exec`;
    for (const wrong of [() => read(JSON.stringify([path])), () => readConfigFile(config)])
      assert.throws(wrong, { message });
  });
});
