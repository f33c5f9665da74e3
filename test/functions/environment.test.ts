import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InvalidEnvironment, readEnvironment, serviceEndpoint } from '../../functions/lambda/environment.ts';

const variables = {
  AWS_REGION: 'eu-central-1',
  PROBELET_TABLE: 'targets',
  PROBELET_BUS: 'probes',
  PROBELET_SHARD_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/shards.fifo',
  PROBELET_RELEASE: '1.2.3',
  PROBELET_MODE: 'auto',
  PROBELET_CAPACITY_MB: '256',
};
const arn = 'arn:aws:lambda:eu-central-1:000000000000:function:check';

const everything = [
  ...(['table', 'bus', 'shardQueueUrl', 'release', 'mode', 'allowCidrs', 'allowLoopback'] as const),
  ...([
    'canaries',
    'secretHosts',
    'execFunctions',
    'execNames',
    'execSsm',
    'capacityMb',
    'tlsSessionResumption',
  ] as const),
  ...(['quotas', 'stage', 'region'] as const),
];

describe('the environment of the functions', () => {
  test('is complete with what every deployment sets', () => {
    assert.deepEqual(readEnvironment(everything, variables), {
      table: 'targets',
      bus: 'probes',
      shardQueueUrl: variables.PROBELET_SHARD_QUEUE_URL,
      release: '1.2.3',
      mode: 'auto',
      allowCidrs: [],
      allowLoopback: false,
      canaries: [
        { host: 'dynamodb.eu-central-1.amazonaws.com', port: 443 },
        { host: 'sqs.eu-central-1.amazonaws.com', port: 443 },
      ],
      secretHosts: new Map(),
      execFunctions: new Map(),
      execNames: new Set(),
      execSsm: false,
      tlsSessionResumption: false,
      capacityMb: 256,
      quotas: { targetsMax: 1_000_000, targetsPerNamespaceMax: 1_000_000, probesPerSecondMax: 51_865 },
      stage: 'default',
      region: 'eu-central-1',
    });
  });

  test('takes what a deployment may set', () => {
    const environment = readEnvironment(everything, {
      ...variables,
      PROBELET_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8',
      PROBELET_CANARIES: 'example.com:443,[2001:db8::1]:53',
      PROBELET_SECRETS: 'ssm:/probelet/token shop.test *.shop.test:443,secretsmanager:probelet/a=b [2001:db8::1]:8080',
      PROBELET_EXEC_FUNCTIONS: JSON.stringify({ default: arn }),
      PROBELET_EXEC_NAMES: 'default,check',
      PROBELET_EXEC_SSM: '1',
      PROBELET_TLS_SESSION_RESUMPTION: '1',
      PROBELET_TARGETS_PER_NAMESPACE_MAX: '50',
      PROBELET_STAGE: 'emulator',
      PROBELET_ALLOW_LOOPBACK: '1',
    });
    assert.equal(environment.quotas.targetsPerNamespaceMax, 50);
    assert.deepEqual(environment.allowCidrs, ['10.0.0.0/8', 'fd00::/8']);
    assert.deepEqual(environment.canaries, [
      { host: 'example.com', port: 443 },
      { host: '2001:db8::1', port: 53 },
    ]);
    const [shop, below] = [
      { host: 'shop.test', isBelow: false },
      { host: 'shop.test', isBelow: true, port: 443 },
    ];
    assert.deepEqual(Object.fromEntries(environment.secretHosts), {
      'ssm:/probelet/token': [shop, below],
      'secretsmanager:probelet/a=b': [{ host: '2001:db8::1', isBelow: false, port: 8080 }],
    });
    assert.deepEqual([...environment.execFunctions], [['default', arn]]);
    assert.deepEqual([...environment.execNames], ['default', 'check']);
    const { execSsm, allowLoopback, tlsSessionResumption, stage } = environment;
    assert.deepEqual([execSsm, allowLoopback, tlsSessionResumption, stage], [true, true, true, 'emulator']);
  });

  test('sends canaries where the clients are sent', () => {
    const { canaries } = readEnvironment(['canaries'], { ...variables, AWS_ENDPOINT_URL: 'http://127.0.0.1:4575' });
    assert.deepEqual(canaries, Array(2).fill({ host: '127.0.0.1', port: 4575 }));
  });

  test('is asked only for what a function needs', () =>
    assert.deepEqual(readEnvironment(['table'], { PROBELET_TABLE: 't' }), { table: 't' }));

  test('names all that is missing', () => {
    const required = [...Object.keys(variables)];
    const namesAll = (error: unknown) =>
      error instanceof InvalidEnvironment && required.every((name) => error.message.includes(`${name} is missing`));
    assert.throws(() => readEnvironment(everything, {}), namesAll);
  });

  const wrong: readonly (readonly [name: string, value: string])[] = [
    ['PROBELET_MODE', 'fast'],
    ['PROBELET_SHARD_QUEUE_URL', 'shards.fifo'],
    ['PROBELET_CAPACITY_MB', '64'],
    ['PROBELET_CAPACITY_MB', '256.5'],
    ['PROBELET_CAPACITY_MB', 'much'],
    ['PROBELET_TARGETS_MAX', '0'],
    ['PROBELET_PROBES_PER_SECOND_MAX', '2.5'],
    ['PROBELET_ALLOW_CIDRS', '10.0.0.0'],
    ['PROBELET_ALLOW_CIDRS', '10.0.0.0/8,private'],
    ...['10/8', '10.1.2.3/8', '010.0.0.0/8', '::ffff:10.0.0.0/104'].map(
      (range) => ['PROBELET_ALLOW_CIDRS', range] as const,
    ),
    ['PROBELET_ALLOW_LOOPBACK', '1'],
    ['PROBELET_ALLOW_LOOPBACK', 'yes'],
    ['PROBELET_CANARIES', 'example.com'],
    ['PROBELET_CANARIES', 'example.com:0'],
    ['PROBELET_CANARIES', 'example.com:70000'],
    ['PROBELET_CANARIES', '[example.com]:443'],
    ['PROBELET_CANARIES', '::1:443'],
    ['PROBELET_SECRETS', 'ssm:/probelet/token'],
    ['PROBELET_SECRETS', 'token shop.test'],
    ['PROBELET_SECRETS', 'ssm:/probelet/token shop.test,'],
    ['PROBELET_SECRETS', 'ssm:/probelet/token shop.test/x'],
    ['PROBELET_EXEC_FUNCTIONS', '{'],
    ['PROBELET_EXEC_FUNCTIONS', '[]'],
    ['PROBELET_EXEC_FUNCTIONS', '{"check":"check"}'],
    ['PROBELET_EXEC_FUNCTIONS', `{"a name":"${arn}"}`],
    ['PROBELET_EXEC_NAMES', 'a name'],
    ['PROBELET_EXEC_NAMES', arn],
    ['PROBELET_EXEC_SSM', 'on'],
    ['PROBELET_STAGE', ''],
    ['PROBELET_STAGE', 'a b'],
  ];
  for (const [name, value] of wrong)
    test(`${name}=${value} is named, with what is allowed`, () => {
      const error = { name: 'InvalidEnvironment', message: new RegExp(`^${name} is .*: it has to be `, 's') };
      assert.throws(() => readEnvironment(everything, { ...variables, [name]: value }), error);
    });

  test('a range that was meant otherwise is refused with what was meant', () => {
    for (const range of ['10/8', '10.1.2.3/8', '010.0.0.0/8', '::ffff:10.0.0.0/104'])
      assert.throws(() => readEnvironment(['allowCidrs'], { PROBELET_ALLOW_CIDRS: `fc00::/7,${range}` }), {
        message: `PROBELET_ALLOW_CIDRS is "${range}": it has to be ranges like 10.0.0.0/8, between commas (did you mean 10.0.0.0/8?)`,
      });
  });

  test('a service is where its endpoint says, or in the region', () => {
    assert.equal(serviceEndpoint('ssm', 'us-east-1', {}), 'https://ssm.us-east-1.amazonaws.com');
    assert.equal(serviceEndpoint('ssm', 'cn-north-1', {}), 'https://ssm.cn-north-1.amazonaws.com.cn');
    const endpoints = { AWS_ENDPOINT_URL: 'http://all', AWS_ENDPOINT_URL_SSM: 'http://ssm' };
    assert.equal(serviceEndpoint('ssm', 'us-east-1', endpoints), 'http://ssm');
    assert.equal(serviceEndpoint('lambda', 'us-east-1', endpoints), 'http://all');
  });
});
