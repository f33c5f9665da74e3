/**
 * Servers whose certificates change while they are probed. What Go takes of one certificate is in the vectors
 * (`wire-certificates`); these are about when a probe looks.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { tlsSessions } from '../../shared/prober/tls/sessions.ts';
import { certificateOf, der, keyPair, sequence } from '../support/certificate.ts';
import { loopbackDial as dial } from '../support/loopback-dial.ts';
import { probeUrl } from '../support/probe-url.ts';
import { resumingServer } from '../support/resuming-server.ts';
import { type ScriptedTls, startScriptedTls } from '../support/scripted-tls-server.ts';
import { portOf } from '../support/tcp-server.ts';

const span = { notBefore: new Date('2020-01-01'), notAfter: new Date('2049-01-01') };
/** Of P-256, with the place for the server's point. */
const spki = Buffer.concat([
  Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex'),
  Buffer.alloc(64, 0xab),
]);
const signer = keyPair();
const keyIdentifier = sequence(der(0x06, Buffer.from('551d0e', 'hex')), der(0x04, der(0x04, Buffer.of(1))));

const pemOf = (subject: string, extensions: readonly Buffer[]): string =>
  certificateOf({ ...span, subject, issuer: 'authority', spki, extensions, signer });
const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----.*-----|\s/g, ''), 'base64');
const good = (subject: string): Buffer => derOf(pemOf(subject, [keyIdentifier]));
const malformed = derOf(pemOf('malformed', [keyIdentifier, keyIdentifier]));
const malformedText =
  'tls: failed to parse certificate from server: x509: certificate contains duplicate extension with OID "2.5.29.14"';
/** Has something behind its last field. */
const overlong = sequence(contentOf(good('overlong')), der(0x05));

/** Of DER whose length takes several bytes. */
function contentOf(whole: Buffer): Buffer {
  return whole.subarray(2 + (whole.readUInt8(1) & 0x7f));
}

const versions = ['1.2', '1.3'] as const;

/** Answers with `ok`; each connection gets the certificates that `change` has set last. */
async function changing(t: TestContext, version: ScriptedTls['version']) {
  let certificates: readonly string[] = [];
  const change = (...sent: readonly Buffer[]) => {
    certificates = sent.map((each) => each.toString('base64'));
  };
  const script = {
    version,
    key: 'p256',
    get certificates() {
      return certificates;
    },
  } as const;
  const port = await portOf(t, startScriptedTls(script, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  const probe = async () => {
    const { outcome, failureClass, output, error } = await probeUrl(`https://127.0.0.1:${port}/`);
    return [outcome, failureClass, (error ?? output).replace(/^Get "[^"]*": /, '')];
  };
  return { change, probe };
}

const success = ['success', undefined, 'ok'];
const failure = ['failure', 'TLS', malformedText];

for (const version of versions)
  describe(`a server of TLS ${version} that has been probed`, () => {
    test('fails with the first malformed certificate of its own, and recovers with the next one', async (t) => {
      const { change, probe } = await changing(t, version);
      change(good('first'));
      assert.deepEqual([await probe(), await probe()], [success, success]);
      change(malformed);
      assert.deepEqual([await probe(), await probe()], [failure, failure]);
      change(good('second'));
      assert.deepEqual([await probe(), await probe(), await probe()], [success, success, success]);
    });

    test('fails for a malformed certificate behind a new one at the second probe', async (t) => {
      const { change, probe } = await changing(t, version);
      change(good('third'));
      assert.deepEqual([await probe(), await probe()], [success, success]);
      change(good('fourth'), malformed);
      assert.deepEqual([await probe(), await probe(), await probe()], [success, failure, failure]);
    });

    test('may have many certificates in turn', async (t) => {
      const { change, probe } = await changing(t, version);
      for (let at = 0; at < 12; at += 1) {
        change(good(`turn ${at % 4}`), good('authority'));
        assert.deepEqual(await probe(), success);
      }
    });

    test('is a prober error at once with a certificate that Go takes and OpenSSL does not', async (t) => {
      const { change, probe } = await changing(t, version);
      change(good('fifth'));
      assert.deepEqual([await probe(), await probe()], [success, success]);
      change(overlong);
      const found = await probe();
      assert.deepEqual(found.slice(0, 2), ['unknown', 'PROBER']);
      assert.match(String(found[2]), /^the server's certificate is one that kubelet takes and OpenSSL does not: /);
    });
  });

for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
  test(`a malformed certificate of ${version} fails each probe although the server gives sessions`, async (t) => {
    const { pem, ...owner } = keyPair();
    const chain = [[keyIdentifier], [keyIdentifier, keyIdentifier]].map((extensions, at) =>
      certificateOf({ ...span, subject: `${at}`, issuer: `${at + 1}`, spki: owner.spki, extensions, signer }),
    );
    const tls = { key: pem, cert: chain.join(''), minVersion: version, maxVersion: version };
    const { port, offered } = await resumingServer(t, { tls });
    const prober = httpProber({ dial, clock, tlsSessions: tlsSessions(clock) });
    const url = `https://127.0.0.1:${port}/`;
    for (let at = 0; at < 3; at += 1) {
      const { output } = await prober({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs: 60_000 });
      assert.equal(output, `Get "${url}": ${malformedText}`);
    }
    assert.deepEqual(offered, [false, false, false]);
  });
