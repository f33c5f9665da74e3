/**
 * An app as `cdk init` makes it, CommonJS and tested with jest, that uses the construct of the installed package: it is
 * tested, deployed on an emulator of AWS, found by the command line, and gets a target.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startMinistack } from '../../support/ministack.ts';
import type { Tally } from '../../support/tally.ts';
import { type App, cdkCli, emulatorPlace, region } from '../aws/cdk.ts';
import { type Installed, linkPackages, root, runIn } from './installed.ts';

/** Large packages of such an app that the clone has too. */
const shared = ['aws-cdk', 'aws-cdk-lib', 'constructs', 'typescript'];

const stackName = 'ShopStack';

const stackSource = `import * as cdk from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { Probelet } from 'probelet/cdk';

export class ${stackName} extends cdk.Stack {
  constructor(scope: Construct, id: string, props?: cdk.StackProps) {
    super(scope, id, props);
    new Probelet(this, 'Probelet', { stage: 'emulator', allowLoopback: true });
  }
}
`;

const testSource = `import * as cdk from 'aws-cdk-lib/core';
import { Template } from 'aws-cdk-lib/assertions';
import { ${stackName} } from '../lib/shop-stack';

test('the stack has the functions of probelet', () => {
  const template = Template.fromStack(new ${stackName}(new cdk.App(), 'Test'));
  // Four of the construct, and the CDK's own that starts the prober once while it is deployed.
  template.resourceCountIs('AWS::Lambda::Function', 5);
});
`;

const target = `metadata: { name: web }
spec: { host: 127.0.0.1, readinessProbe: { tcpSocket: { port: 9 } } }
`;

/** In a folder of its own below the installation. */
export async function judgeInitialised(installed: Installed, verdict: Tally['verdict']): Promise<void> {
  const folder = join(installed.folder, 'shop');
  mkdirSync(folder);
  initialise(folder, installed.tarball);
  const run = runIn(folder);
  const expect = (name: string, { status, out, err }: ReturnType<typeof run>, wanted: RegExp) =>
    verdict(name, status === 0 && wanted.test(out) ? [] : [`exit code ${status}`, out, err]);
  expect('the app of cdk init compiles with the construct', run('npm', ['run', '--silent', 'build']), /^$/);
  expect('jest tests the app of cdk init', run('sh', ['-c', 'npm test --silent 2>&1']), /Tests: +1 passed/);
  const emulator = await startMinistack();
  const keys = { accessKeyId: 'test', secretAccessKey: 'test' };
  const cdk = cdkCli(emulatorPlace(emulator.endpoint, keys));
  const app: App = { stack: stackName, folder, command: 'npx tsx bin/shop.ts', context: {} };
  try {
    await cdk.bootstrap();
    const outputs = await cdk.deploy(app);
    const [, url = ''] = Object.entries(outputs).find(([name]) => name.startsWith('ProbeletApiUrl')) ?? [];
    verdict(
      'the app of cdk init is deployed, with the outputs of the construct',
      url === '' ? Object.keys(outputs) : [],
    );
    const { hostname } = new URL(url);
    const env = {
      HOME: folder,
      AWS_REGION: region,
      AWS_ENDPOINT_URL: emulator.endpoint,
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    };
    const probelet = (...args: readonly string[]) => run('npx', ['--no-install', 'probelet', ...args], env);
    expect(
      'context add finds the API by the stack',
      probelet('context', 'add', 'shop', '--stack', stackName, '--region', region),
      new RegExp(`^context/shop added: https://${hostname}, region ${region}\n`),
    );
    // The address of an API on the emulator is the emulator's.
    const server = [
      '--server',
      `${emulator.endpoint}/_aws/execute-api/${hostname.split('.')[0]}/$default`,
      '--auth',
      'aws',
    ];
    writeFileSync(join(folder, 'web.yaml'), target);
    expect('a target is applied', probelet('apply', '-f', 'web.yaml', ...server), /^target\/web created\n$/);
    expect('it is shown', probelet('get', 'targets', ...server), /^web +[?0]\/1 +/m);
  } finally {
    cdk.stop();
    await emulator.stop();
  }
}

function initialise(folder: string, tarball: string): void {
  const options = { cwd: folder, stdio: 'pipe' } as const;
  const cdk = join(root, 'node_modules/.bin/cdk');
  execFileSync(cdk, ['init', 'app', '--language', 'typescript', '--generate-only'], options);
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const others = ([name]: [string, string]) => !shared.includes(name);
  const devDependencies = Object.fromEntries(Object.entries<string>(manifest.devDependencies).filter(others));
  writeFileSync(file, JSON.stringify({ ...manifest, devDependencies, dependencies: { probelet: `file:${tarball}` } }));
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--silent'], options);
  linkPackages(folder, shared);
  writeFileSync(join(folder, 'lib/shop-stack.ts'), stackSource);
  writeFileSync(join(folder, 'test/shop.test.ts'), testSource);
}
