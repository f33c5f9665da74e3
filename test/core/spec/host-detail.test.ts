/** What the refusal of a host says: where each part of a URL goes, and which host was probably meant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { hostDetail } from '../../../shared/core/spec/host-detail.ts';
import { isHost } from '../../../shared/core/spec/names.ts';

const plain = 'must be a host name or an IP address without brackets';
const alone = 'must be a host name or an IP address alone: put';
const scheme = 'the scheme in httpGet.scheme';
const protocol = 'the protocol in the handler (httpGet, tcpSocket or grpc)';
const credentials = 'credentials in httpGet.httpHeaders';
const port = "the port in the probe's port";
const path = 'the path in httpGet.path';

describe('what stands beside the host is given its place', () => {
  const rows: readonly (readonly [text: string, detail: string])[] = [
    ['shop.example:8080', `${alone} ${port} (did you mean shop.example?)`],
    ['shop:http', `${alone} ${port} (did you mean shop?)`],
    ['127.0.0.1:80', `${alone} ${port} (did you mean 127.0.0.1?)`],
    ['[::1]:80', `${alone} ${port} (did you mean ::1?)`],
    ['http://shop', `${alone} ${scheme} (did you mean shop?)`],
    ['HTTPS://shop', `${alone} ${scheme} (did you mean shop?)`],
    ['tcp://shop:80', `${alone} ${protocol} and ${port} (did you mean shop?)`],
    ['shop.example/healthz', `${alone} ${path} (did you mean shop.example?)`],
    ['shop.example?ready', `${alone} ${path} (did you mean shop.example?)`],
    ['https://shop.example:8443/healthz', `${alone} ${scheme}, ${port} and ${path} (did you mean shop.example?)`],
    ['http://[fe80::1%25eth0]/', `${alone} ${scheme} and ${path} (did you mean fe80::1%25eth0?)`],
    ['http://me:secret@shop/', `${alone} ${scheme}, ${credentials} and ${path} (did you mean shop?)`],
    ['http://', `${alone} ${scheme}`],
    ['http://not a host:80', `${alone} ${scheme} and ${port}`],
  ];
  for (const [text, detail] of rows) test(text, () => assert.equal(hostDetail(text), detail));
});

describe('a text that is no part of a URL either', () => {
  const rows: readonly (readonly [text: string, detail: string])[] = [
    ['not a host', plain],
    ['*.example.com', plain],
    ['[::1]', `${plain} (did you mean ::1?)`],
    [' shop\n', `${plain} (did you mean shop?)`],
    ['::1::2', plain],
    ['10.0.0.1/24', 'must be one address, not a range (did you mean 10.0.0.1?)'],
  ];
  for (const [text, detail] of rows) test(JSON.stringify(text), () => assert.equal(hostDetail(text), detail));
});

const host = fc.constantFrom('shop', 'shop.example', '10.0.0.1', '[2001:db8::1]');
const url = fc.record({
  scheme: fc.constantFrom('', 'http://', 'https://', 'tcp://', 'grpc+tls://'),
  credentials: fc.constantFrom('', 'me@', 'me:secret@'),
  host,
  port: fc.constantFrom('', ':80', ':http', ':'),
  path: fc.constantFrom('', '/', '/healthz?full=1#top', '?a', '#a', '/a@b:c://d'),
});

test('the host of any URL is found, and its credentials are not repeated', () => {
  fc.assert(
    fc.property(url, (parts) => {
      const text = Object.values(parts).join('');
      const meant = parts.host.replace(/[[\]]/g, '');
      fc.pre(!isHost(text));
      const detail = hostDetail(text);
      assert.ok(detail.endsWith(` (did you mean ${meant}?)`), `${text}: ${detail}`);
      assert.ok(!detail.includes('secret'));
    }),
  );
});

test('whatever the text is, what is meant is a host', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab1.:/@[]?#% ') }), (text) => {
      const meant = / \(did you mean (.*)\?\)$/s.exec(hostDetail(text))?.[1];
      assert.ok(meant === undefined || isHost(meant));
    }),
  );
});
