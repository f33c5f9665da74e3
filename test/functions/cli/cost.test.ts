/** `probelet cost`: the estimate of docs/operating.md, of round numbers and of files. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cliFiles } from './files.ts';

const { fileOf, ran } = cliFiles('cost');

const target = fileOf(
  'target.yaml',
  `metadata: { name: web }
spec:
  livenessProbe: { httpGet: { port: 443, scheme: HTTPS } }
  readinessProbe: { httpGet: { port: 443, scheme: HTTPS } }
`,
);

describe('cost', () => {
  test('prints the estimate that docs/operating.md has of the same fleet', async () => {
    const { code, out } = await ran('--targets', '1000', '--probe', 'https');
    assert.equal(code, 0);
    assert.match(
      out,
      /^WHAT +USD A MONTH\nLambda +19\.96\n(.+\n)+Data transfer +50\.85\nall +77\.59\nresident, 1 shard of 576 MB\. Prices of us-east-1/,
    );
  });

  test('is that of tasks where they are cheaper, and asked for', async () => {
    const large = ['--targets', '10000', '--probe', 'https'];
    const { out } = await ran(...large, '--compute', 'auto');
    assert.match(
      out,
      /^Fargate +61\.50\n(.+\n)+all +593\.62\nresident, 4 shards in 5 tasks of 1 vCPU and 2 GB by Spot/m,
    );
    assert.match((await ran('--compute', 'auto')).out, /^resident, 1 shard of \d+ MB\./m);
    const { code, err } = await ran(...large, '--compute', 'fargate', '--memory', '512');
    assert.equal(code, 2);
    assert.match(err.join('\n'), /--memory: only with --compute lambda/);
  });

  test('knows the way to the targets, and that sessions are resumed', async () => {
    const transferOf = async (...more: readonly string[]) =>
      JSON.parse((await ran('--targets', '1000', '--probe', 'https', ...more, '-o', 'json')).out).transferUsd.toFixed(
        2,
      );
    assert.deepEqual(
      [
        await transferOf(),
        await transferOf('--reach', 'vpc'),
        await transferOf('--reach', 'region', '--tls-session-resumption'),
      ],
      ['50.85', '13.53', '11.56'],
    );
    assert.match((await ran('--reach', 'nat')).out, /^NAT gateway +36\.50$/m);
  });

  test('of files counts each of their targets, with all of its probes', async () => {
    const costOf = async (...args: readonly string[]) => JSON.parse((await ran(...args, '-o', 'json')).out).usd;
    const round = ['--targets', '500', '--probe', 'https', '--probes', '2'];
    assert.equal((await costOf('-f', target, '--targets', '500')).toFixed(6), (await costOf(...round)).toFixed(6));
  });

  test('fails where no number of shards of that memory is enough, and says what is', async () => {
    const { code, err } = await ran('--targets', '1000000', '--probe', 'https', '--memory', '256');
    assert.equal(code, 1);
    assert.match(err[0] ?? '', /^error: 256 MB are too few for this fleet: try --memory \d+$/);
  });

  test('says how it is used', async () => {
    for (const [args, expectedCode, expected] of [
      [['--targets', '0'], 2, /must be a whole number from 1 to 10000000\. See 'probelet cost --help'/],
      [['--probe', 'icmp'], 2, /Allowed choices are /],
      [['-f', '/no/such/file'], 1, /there is no such file/],
    ] as const) {
      const { code, out, err } = await ran(...args);
      assert.deepEqual([code, out], [expectedCode, '']);
      assert.match(err.at(-1) ?? '', expected);
    }
  });
});
