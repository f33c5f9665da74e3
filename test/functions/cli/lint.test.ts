/** `probelet lint`: what it prints where, its exit codes, and its log of SARIF. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lintRules } from '../../../shared/core/spec/lint.ts';
import { cliFiles } from './files.ts';

const { fileOf, ran } = cliFiles('lint');

const deployment = fileOf(
  'deployment.yaml',
  `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  template:
    spec:
      containers:
        - name: app
          readinessProbe: { httpGet: { path: /ready, port: 80 } }
          livenessProbe:
            httpGet: { path: /health/db, port: 80 }
            timeoutSeconds: 30
`,
);
const short = fileOf(
  'short form.yaml',
  'metadata: { name: a }\nspec:\n  livenessProbe:\n    tcpSocket: { port: 1 }\n    initialDelaySeconds: 60\n',
);
const good = fileOf('good.yaml', 'metadata: { name: a }\nspec: { readinessProbe: { tcpSocket: { port: 1 } } }\n');
const wrong = fileOf('wrong.yaml', 'metadata: { name: a }\nspec:\n  readinessProbe: { tcpSocket: { prot: 1 } }\n');

describe('lint', () => {
  test('names each finding with its place in the file, its rule and its mend, whatever the address', async () => {
    const { code, out, err } = await ran('-f', deployment);
    assert.deepEqual([code, err], [1, []]);
    assert.deepEqual(
      out.split('\n').map((line) => line.split(' is ')[0]?.split(' seems ')[0]),
      [
        'deployment.yaml:12:13: warning timeout-above-period: spec.template.spec.containers[0].livenessProbe.timeoutSeconds',
        'deployment.yaml:11:24: warning liveness-on-dependency: spec.template.spec.containers[0].livenessProbe.httpGet.path',
        '',
      ],
    );
  });

  test('finds the field in the short form of a target, too', async () => {
    assert.match(
      (await ran('-f', short)).out,
      /^short form\.yaml:5:5: note initial-delay-for-startup: spec\.livenessProbe\.init/,
    );
  });

  test('judges commands as they are written, although convert puts handlers in their place', async () => {
    const command = '[curl, -f, "http://localhost/"]';
    const probe = `{ exec: { command: ${command} } }`;
    const pod = `spec: { containers: [{ name: a, livenessProbe: ${probe} }] }`;
    const file = fileOf('pod.yaml', `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n${pod}\n`);
    assert.match(
      (await ran('-f', file)).out,
      /^pod\.yaml:4:\d+: note exec-instead-of-handler: spec\.containers\[0\]\.livenessProbe/,
    );
  });

  test('fails by severity', async () => {
    const codes = await Promise.all(
      ['never', 'warning', 'note'].map(async (value) => [
        (await ran('-f', deployment, '--fail-on', value)).code,
        (await ran('-f', short, `--fail-on=${value}`)).code,
        (await ran('-f', good, '--fail-on', value)).code,
      ]),
    );
    assert.deepEqual(codes, [
      [0, 0, 0],
      [1, 0, 0],
      [1, 1, 0],
    ]);
  });

  test('fails for a wrong file, and judges the others', async () => {
    const { code, out, err } = await ran('-f', wrong, '-f', short, '--fail-on', 'never');
    assert.equal(code, 1);
    assert.match(out, /^short form\.yaml:5:5: /);
    assert.deepEqual(err, [
      'wrong.yaml:3:21: spec.readinessProbe.tcpSocket.port is required',
      'wrong.yaml:3:34: spec.readinessProbe.tcpSocket.prot unknown field (did you mean port?)',
    ]);
  });

  test('fails if there is nothing to judge', async () => {
    const nothing = fileOf('nothing.yaml', 'apiVersion: v1\nkind: ConfigMap\n');
    assert.deepEqual(await ran('-f', nothing), { code: 1, out: '', err: ['No file has a target.'] });
  });

  test('says how it is used', async () => {
    for (const [args, expected] of [
      [[], /required option '-f, --filename <file>' not specified\. See 'probelet lint --help'\.$/],
      [
        ['-f', good, '--fail-on', 'error'],
        /argument 'error' is invalid\. Allowed choices are note, warning, never\. See /,
      ],
      [['-f', good, '--fail-on', 'constructor'], /argument 'constructor' is invalid/],
      [['-f', good, '--output', 'xml'], /argument 'xml' is invalid\. Allowed choices are text, sarif\. See /],
    ] as const) {
      const { code, out, err } = await ran(...args);
      assert.deepEqual([code, out, err.length], [2, '', 1]);
      assert.match(err[0] ?? '', expected);
    }
  });
});

describe('the log of SARIF', () => {
  const logOf = async (...files: readonly string[]) => {
    const { out } = await ran(...files.flatMap((file) => ['-f', file]), '--output', 'sarif', '--fail-on', 'never');
    const log = JSON.parse(out);
    assert.deepEqual([log.version, log.runs.length], ['2.1.0', 1]);
    return log.runs[0];
  };

  test('lists every rule with its level, whether it found something or not', async () => {
    const { tool, results } = await logOf(good);
    assert.deepEqual(results, []);
    const listed = tool.driver.rules.map(({ id }: { readonly id: string }) => id);
    assert.deepEqual(listed, ['invalid-manifest', ...Object.keys(lintRules)]);
    for (const { shortDescription, defaultConfiguration } of tool.driver.rules) {
      assert.match(shortDescription.text, /^[A-Z].*\.$/);
      assert.match(defaultConfiguration.level, /^(error|warning|note)$/);
    }
  });

  test('has a result for each finding and each error, with file, line and column', async () => {
    const { tool, results } = await logOf(short, wrong);
    type Result = (typeof results)[number];
    const shown = results.map(({ ruleId, ruleIndex, level, locations }: Result) => {
      const { artifactLocation, region } = locations[0].physicalLocation;
      assert.equal(tool.driver.rules[ruleIndex].id, ruleId);
      return `${ruleId} ${level} ${artifactLocation.uri.split('/').at(-1)} ${region.startLine}:${region.startColumn}`;
    });
    assert.deepEqual(shown, [
      'invalid-manifest error wrong.yaml 3:21',
      'invalid-manifest error wrong.yaml 3:34',
      'initial-delay-for-startup note short%20form.yaml 5:5',
    ]);
    assert.match(results[0].message.text, /^spec\.readinessProbe\.tcpSocket\.port is required\.$/);
    assert.match(results[2].message.text, /^spec\.livenessProbe\.initialDelaySeconds .* Mend: a startupProbe .*\.$/);
  });
});
