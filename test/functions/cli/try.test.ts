/** `probelet try`: real listeners, asked once and never registered. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { cliFiles } from './files.ts';

const { fileOf, ran } = cliFiles('try');

const asked: string[] = [];
const server = createServer(({ url, headers }, response) => {
  asked.push(`${url} ${headers['x-token'] ?? ''}`);
  response.writeHead(url === '/live' ? 200 : 503).end('all of it');
});

before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => server.close());

/** A file whose probes have these handlers. */
function fileWith(probes: { readonly [type: string]: object }): string {
  const { port } = server.address() as AddressInfo;
  const text = JSON.stringify({ metadata: { name: 'web' }, spec: { host: '127.0.0.1', ...probes } });
  return fileOf('web.json', text.replaceAll('"PORT"', String(port)));
}

const live = {
  livenessProbe: { httpGet: { path: '/live', port: 'PORT', httpHeaders: [{ name: 'x-token', value: 'secret' }] } },
};
const untimed = (text: string) => text.replaceAll(/\d+\.\d ms/g, 'N ms').replaceAll(/:\d{4,5}/g, ':PORT');

describe('try', () => {
  test('makes each probe once, with its request, phases and verdict, and shows neither headers nor a body', async () => {
    asked.length = 0;
    const { code, out, err } = await ran('-f', fileWith(live));
    assert.deepEqual([code, err, asked], [0, [], ['/live secret']]);
    assert.equal(
      untimed(out),
      `liveness probe of default/web, container main: success
  GET http://127.0.0.1:PORT/live
  DNS N ms, connect N ms, first byte N ms, total N ms
`,
    );
  });

  test('tries the named targets of the files alone', async () => {
    asked.length = 0;
    const { port } = server.address() as AddressInfo;
    const target = (name: string) =>
      `metadata: { name: ${name} }\nspec: { host: 127.0.0.1, readinessProbe: { httpGet: { path: /live, port: ${port} } } }\n`;
    const file = fileOf('many.yaml', `${target('a')}---\n${target('b')}`);
    const { code, out } = await ran('-f', file, 'target/b');
    assert.deepEqual([code, asked.length, out.split(':')[0]], [0, 1, 'readiness probe of default/b, container main']);
    const { code: absent, err } = await ran('-f', file, 'target', 'b', 'c');
    assert.deepEqual([absent, err, asked.length], [4, ['error: no file has a target c'], 1]);
  });

  test('fails if a probe fails or cannot be made', async () => {
    const readinessProbe = { httpGet: { path: '/ready', port: 'PORT' } };
    const startupProbe = { exec: { command: ['true'] } };
    const { code, out } = await ran('-f', fileWith({ ...live, readinessProbe, startupProbe }), '-o', 'json');
    assert.equal(code, 1);
    const tried: readonly {
      readonly probeType: string;
      readonly result: string;
      readonly attempts: readonly object[];
    }[] = JSON.parse(out);
    assert.deepEqual(tried.map(({ probeType, result, attempts }) => [probeType, result, attempts.length]).sort(), [
      ['liveness', 'success', 1],
      ['readiness', 'failure', 1],
      ['startup', 'unknown', 1],
    ]);
    assert.match(out, /exec probes are off: no --allow-exec file was given/);
  });

  test('runs the commands of the file that allows them', async () => {
    const allowed = fileOf('allowed.txt', '["true"]\n');
    const { code, out } = await ran(
      '-f',
      fileWith({ livenessProbe: { exec: { command: ['true'] } } }),
      '--allow-exec',
      allowed,
    );
    assert.equal(code, 0);
    assert.match(out, /success\n {2}exec true\n/);
  });

  test('says how it is used', async () => {
    const probeless = fileOf('none.yaml', 'metadata: { name: web }\nspec: { containers: [{ name: a }], host: a }\n');
    for (const [args, expectedCode, expected] of [
      [
        ['-f', fileWith(live), '--allow-exec', '/no/such/file'],
        2,
        /--allow-exec: .*: there is no such file.* See 'probelet try --help'/,
      ],
      [['-f', fileWith(live), '--secret', 'x'], 2, /--secret: has to be NAME=HOST/],
      [['-f', probeless], 1, /No file has a probe/],
      [['-f', '/no/such/file'], 1, /there is no such file/],
    ] as const) {
      const { code, out, err } = await ran(...args);
      assert.deepEqual([code, out], [expectedCode, '']);
      assert.match(err.at(-1) ?? '', expected);
    }
  });
});
