import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseOptions } from '../../../functions/local/options/options.ts';
import { type OptionName, StartCommand, startOption } from '../../../functions/local/options/start-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { main } from '../product.ts';

const shared = ['--table', 'probelet', '--queue-url', 'https://sqs.eu-west-1.amazonaws.com/123456789012/shards.fifo'];
const aws = { table: shared[1], queueUrl: shared[3], endpoints: {} };
const worker = ['--worker', ...shared];

test('without options everything runs in one process', () => {
  const options = { host: '127.0.0.1', port: 8080, dataDir: '.probelet' };
  assert.deepEqual(parseOptions([]), { kind: 'alone', options });
});

test('a worker needs the table and the queue, and listens only if a port is given', () => {
  const options = { aws, release: '', concurrency: 4 };
  assert.deepEqual(parseOptions(worker), { kind: 'worker', options });
  const server = { host: '127.0.0.1', port: 0 };
  assert.deepEqual(parseOptions([...worker, '--port', '0', '--release', 'r2', '--concurrency', '8']), {
    kind: 'worker',
    options: { aws, release: 'r2', concurrency: 8, server },
  });
});

test('a control process listens as one alone does', () => {
  const options = { host: '127.0.0.1', port: 8080, aws: { ...aws, bus: 'events', region: 'eu-west-1' }, release: 'r2' };
  const given = ['--control', ...shared, '--bus', 'events', '--region', 'eu-west-1', '--release', 'r2'];
  assert.deepEqual(parseOptions(given), { kind: 'control', options });
});

test('how shards are held is asked of one process alone and of the control process', () => {
  const parsed = [['--mode', 'tick'], ['--control', ...shared, '--mode', 'resident'], []].map(parseOptions);
  const modes = parsed.map((each) => (each.kind === 'alone' || each.kind === 'control' ? each.options.mode : each));
  assert.deepEqual(modes, ['tick', 'resident', undefined]);
});

test('limits are those that are named, of one process alone and of the control process', () => {
  const given = ['--targets-max', '100', '--targets-max-per-namespace', '10', '--probes-per-second-max', '50'];
  const quotas = { targetsMax: 100, targetsPerNamespaceMax: 10, probesPerSecondMax: 50 };
  for (const line of [given, ['--control', ...shared, ...given]]) {
    const parsed = parseOptions(line);
    assert.deepEqual(parsed.kind === 'alone' || parsed.kind === 'control' ? parsed.options.quotas : parsed, quotas);
  }
});

test('canaries are those that are named', () => {
  const parsed = parseOptions(['--canary', '192.0.2.1:443', '--canary', '[2001:db8::1]:53']);
  assert.deepEqual(parsed.kind === 'alone' && parsed.options.canaries, [
    { host: '192.0.2.1', port: 443 },
    { host: '2001:db8::1', port: 53 },
  ]);
  assert.ok(!('canaries' in (parseOptions([]) as { readonly options: object }).options));
});

test('TLS sessions are resumed on request, by one process alone and by a worker', () => {
  for (const mode of [[], worker]) {
    const chosen = [mode, [...mode, '--tls-session-resumption']].map(parseOptions).map((parsed) => {
      assert.ok(parsed.kind === 'alone' || parsed.kind === 'worker');
      return parsed.options.tlsSessionResumption;
    });
    assert.deepEqual(chosen, [undefined, true]);
  }
  const { kind } = parseOptions(['--control', ...shared, '--tls-session-resumption']);
  assert.equal(kind, 'invalid');
});

test('a secret may have several hosts, for one process alone, for a worker and for a control process', () => {
  const secrets = ['A=shop.test', 'B=[2001:DB8::1]:443', 'A=*.test:8443'];
  const given = secrets.flatMap((each) => ['--secret', `PROBELET_SECRET_${each}`]);
  const ofA = [
    { host: 'shop.test', isBelow: false },
    { host: 'test', isBelow: true, port: 8443 },
  ];
  const ofB = [{ host: '2001:db8::1', isBelow: false, port: 443 }];
  for (const mode of [[], worker, ['--control', ...shared]]) {
    const parsed = parseOptions([...mode, ...given]);
    assert.ok(parsed.kind === 'alone' || parsed.kind === 'worker' || parsed.kind === 'control');
    const hosts = Object.fromEntries(parsed.options.secretHosts ?? []);
    assert.deepEqual(hosts, { 'env:PROBELET_SECRET_A': ofA, 'env:PROBELET_SECRET_B': ofB });
  }
});

test('what stands at the wrong place of --secret may be one, and is not repeated', () => {
  const named = ['', '=hush/hush', ' =hush'].map((rest) => `PROBELET_SECRET_A${rest}`);
  for (const slip of ['hush', 'TOKEN=hush', ...named]) {
    const parsed = parseOptions(['--secret', slip]);
    assert.ok(parsed.kind === 'invalid', slip);
    assert.doesNotMatch(parsed.message, /hush/);
  }
});

test('an endpoint is of all services, or of the one that is named', () => {
  const endpoints = ['http://127.0.0.1:4575', 'dynamodb=http://127.0.0.1:8000'];
  const parsed = parseOptions([...worker, ...endpoints.flatMap((each) => ['--endpoint', each])]);
  assert.deepEqual(parsed.kind === 'worker' && parsed.options.aws.endpoints, {
    dynamodb: 'http://127.0.0.1:8000',
    sqs: 'http://127.0.0.1:4575',
    eventbridge: 'http://127.0.0.1:4575',
  });
});

describe('a message names the option', () => {
  /** W and C stand for a worker and a control process with all that they need. */
  const wrong: { readonly [option: string]: readonly string[] } = {
    '--table': ['--worker', '--table probelet'],
    '--queue-url': ['--control --table probelet', 'W --queue-url https://127.0.0.1/queue', 'W --queue-url shards.fifo'],
    '--canary': ['--canary gateway', '--canary 127.0.0.1:443', 'C --canary 192.0.2.1:443'],
    '--secret': [
      ...['--secret TOKEN=shop.test', '--secret PROBELET_SECRET_A', '--secret PROBELET_SECRET_A='],
      ...['--secret PROBELET_SECRET_A=http://shop.test', '--secret PROBELET_SECRET_A-B=shop.test'],
    ],
    '--worker': ['--worker C'],
    '--mode': ['--mode idle', 'W --mode tick'],
    '--data-dir': ['W --data-dir x'],
    '--allow-exec': ['--allow-exec /nowhere', 'W --allow-exec /nowhere', 'C --allow-exec /nowhere'],
    '--targets-max': ['--targets-max 0', '--targets-max many', 'W --targets-max 5'],
    '--targets-max-per-namespace': ['--targets-max-per-namespace -1'],
    '--probes-per-second-max': ['--probes-per-second-max 1.5', 'W --probes-per-second-max 5'],
    '--concurrency': [
      ...['W --concurrency 0', 'W --concurrency 65', 'W --concurrency two', 'C --concurrency 2', '--concurrency 2'],
    ],
    '--endpoint': ['W --endpoint s3=http://127.0.0.1', 'W --endpoint ftp://127.0.0.1'],
    '--bus': ['--bus events', 'W --bus '],
    '--region': ['W --region '],
    '--release': ['--release r2'],
    '--host': ['W --host 127.0.0.1', '--host 0.0.0.0', '--host example.com'],
    '--token-file': ['W --token-file /nowhere', '--token-file /nowhere'],
    '--port': ['--port 65536', 'W --port x'],
    '--shards': ['--shards 2'],
  };
  const words = (line: string) =>
    line.split(' ').flatMap((word) => (word === 'W' ? worker : word === 'C' ? ['--control', ...shared] : word));
  const assertNamed = (line: readonly string[], option: string) => {
    const parsed = parseOptions(line);
    assert.equal(parsed.kind, 'invalid', line.join(' '));
    assert.match(parsed.kind === 'invalid' ? parsed.message : '', new RegExp(`${option}\\b`));
  };
  for (const [option, lines] of Object.entries(wrong))
    test(option, () => {
      for (const line of lines) assertNamed(words(line), option);
      if (option === '--table') assertNamed(['--worker', '--table', 'a b', ...shared.slice(2)], option);
    });
});

describe('an option takes what is at its limit, and nothing beyond it', () => {
  const tokenFile = (length: number) => {
    const path = join(temporaryFolder(), 'token');
    writeFileSync(path, 'x'.repeat(length));
    return path;
  };
  const withToken = ['--token-file', tokenFile(16)];
  const taken: readonly (readonly string[])[] = [
    ['--port', '0'],
    ['--port', '65535'],
    ['--host', 'localhost'],
    ['--host', '::1'],
    ['--host', '127.0.0.9'],
    ['--host', '0.0.0.0', ...withToken],
    ['--host', '2001:db8::1', ...withToken],
    ['--targets-max', '1'],
    [...worker, '--concurrency', '1'],
    [...worker, '--concurrency', '64'],
    ['--canary', '192.0.2.1:65535'],
  ];
  for (const line of taken) test(line.join(' '), () => assert.notEqual(parseOptions(line).kind, 'invalid'));

  const refused: readonly (readonly [line: readonly string[], message: RegExp])[] = [
    [['--port', '65536'], /^--port: 65536 is not a port \(0 to 65535\)$/],
    [['--port', '-1'], /^--port: /],
    [['--host', 'example.com', ...withToken], /^--host: example\.com is not an IP address$/],
    [['--host', '0.0.0.0'], /^--host: 0\.0\.0\.0 is reachable from elsewhere, so it needs --token-file FILE$/],
    [['--host', '::'], /^--host: :: is reachable from elsewhere/],
    [['--token-file', tokenFile(15)], /^--token-file: the token in .* has fewer than 16 characters$/],
    [['--targets-max', '0'], /^--targets-max: 0 is not a number from 1 to /],
    [[...worker, '--concurrency', '65'], /^--concurrency: 65 is not a number from 1 to 64$/],
    [['--canary', '192.0.2.1:65536'], /^--canary: /],
    [['--canary', '127.0.0.1:443'], /^--canary: 127\.0\.0\.1:443 is on this machine/],
  ];
  for (const [line, message] of refused)
    test(line.join(' '), () => {
      const parsed = parseOptions(line);
      assert.match(parsed.kind === 'invalid' ? parsed.message : parsed.kind, message);
    });
});

test('the name of each option is that of its value', () => {
  const { options } = new StartCommand();
  assert.ok(options.length > 20);
  for (const option of options) assert.equal(startOption(option.attributeName() as OptionName).long, option.long);
});

describe('a slip on the command line is answered with what to do', () => {
  const slips: readonly (readonly [line: readonly string[], message: string])[] = [
    [['--prot', '8080'], '--prot: there is no such option; did you mean --port?'],
    [['--datadir=x'], '--datadir: there is no such option; did you mean --data-dir?'],
    [['--token', 'x'], '--token: there is no such option; did you mean --token-file?'],
    [['-port', '8080'], '-port: there is no such option; did you mean --port?'],
    [['--verbose'], '--verbose: there is no such option'],
    [['--constructor'], '--constructor: there is no such option'],
    [['help'], 'help: is not an option; did you mean --help?'],
    [['8080'], '8080: is not an option; options stand behind --, as in npm start -- --port 8080'],
    [['--port'], '--port: needs a value behind it'],
    [
      ['--port', '--host', '127.0.0.1'],
      '--port: needs a value, but another option follows; one that begins with - needs =, as in --port=-',
    ],
    [['--worker=yes'], '--worker: takes no value; leave out what follows ='],
  ];
  for (const [line, message] of slips)
    test(line.join(' '), () => assert.deepEqual(parseOptions(line), { kind: 'invalid', message }));

  test('a message stays short, whatever the argument', () => {
    for (const argument of [`--${'x'.repeat(100_000)}`, 'x'.repeat(100_000)]) {
      const parsed = parseOptions([argument]);
      assert.ok(parsed.kind === 'invalid' && parsed.message.length < 200);
    }
  });

  test('the value of an unknown option and what stands beside --secret may be secret, and is not repeated', () => {
    for (const line of [['--scret=PROBELET_SECRET_A=hush'], ['--secret', 'PROBELET_SECRET_A', '=hush']]) {
      const parsed = parseOptions(line);
      assert.ok(parsed.kind === 'invalid');
      assert.doesNotMatch(parsed.message, /hush/);
    }
  });
});

describe('the process', () => {
  const ended = (args: readonly string[], program = main) =>
    new Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>((resolve) => {
      const env = { PATH: process.env.PATH, HOME: '/nowhere' };
      execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });

  test('ends with 2 when it is called wrongly, and says what is wrong and where to read on', async () => {
    const { code, stdout, stderr } = await ended(['--worker']);
    assert.equal(code, 2);
    assert.equal(stdout, '');
    assert.equal(
      stderr,
      "probelet: --table: is needed with --worker\n'npm start -- --help', or 'probelet start --help', shows all options.\n",
    );
  });

  test('is what probelet start becomes, exit code included', async () => {
    const cli = new URL('../../../functions/cli/main.ts', import.meta.url).pathname;
    const unread = await ended(['start', '--token-file', '/nowhere'], cli);
    assert.equal(unread.code, 2);
    assert.match(unread.stderr, /^probelet: --token-file: \/nowhere: /);
    const { code, stderr } = await ended(['start', '--prot', '8080'], cli);
    assert.equal(code, 2);
    assert.equal(stderr, "error: --prot: there is no such option; did you mean --port? See 'probelet start --help'.\n");
    assert.deepEqual(await ended(['start', '--help'], cli), await ended(['--help']));
  });

  test('ends with 2 without a region', async () => {
    const { code, stderr } = await ended(worker);
    assert.equal(code, 2);
    assert.match(stderr, /^probelet: --region: is needed/);
  });

  test('omits the password of a URL', async () => {
    const shared = ['--worker', '--table', 'probelet', '--region', 'eu-west-1'];
    const queue = ['--queue-url', 'https://user:PASSW0RD@sqs.test/shards'];
    const endpoint = ['--queue-url', 'https://sqs.test/shards.fifo', '--endpoint', 'sqs=ftp://user:PASSW0RD@sqs.test'];
    for (const args of [queue, endpoint]) {
      const { code, stderr } = await ended([...shared, ...args]);
      assert.deepEqual([code, /PASSW0RD/.test(stderr), /\*\*\*@sqs\.test/.test(stderr)], [2, false, true], stderr);
    }
  });

  test('shows every option with --help', async () => {
    const { code, stdout, stderr } = await ended(['--help']);
    assert.deepEqual([code, stderr], [0, '']);
    for (const option of ['secret', 'control', 'worker', 'table', 'queue-url', 'bus', 'endpoint', 'concurrency'])
      assert.ok(stdout.includes(`--${option}`), option);
  });
});

test('a token file that other users can read or write gets a warning with a remedy', (t) => {
  const file = join(temporaryFolder(t), 'token');
  writeFileSync(file, 'a-token-of-sixteen-characters');
  for (const mode of [0o600, 0o400, 0o640, 0o604, 0o620]) {
    chmodSync(file, mode);
    const parsed = parseOptions(['--token-file', file]);
    const warning = parsed.kind === 'alone' ? (parsed.options.warning ?? '') : 'not parsed';
    assert.equal(warning.includes(`chmod 600 ${file}`), (mode & 0o077) !== 0, `${mode.toString(8)}: ${warning}`);
  }
});
