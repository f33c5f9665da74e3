import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { propNames } from '../../cdk/validate-props.ts';
import { costTables } from '../../functions/cost/main.ts';
import { metricCount } from '../../functions/lambda/metrics.ts';
import { tickTargetsMax } from '../../shared/core/shards/layout.ts';
import { fittingMemory } from '../../shared/cost/compute.ts';
import {
  type CostInput,
  cadence,
  deployedAlarms,
  estimateCost,
  taskAlarms,
  taskPollSeconds,
} from '../../shared/cost/estimate.ts';
import type { Compute, FleetPart, Reach } from '../../shared/cost/fleet.ts';
import { type Peer, peerCost } from '../../shared/cost/peers.ts';
import { prices, spotPart } from '../../shared/cost/prices.ts';
import { probeTransfer } from '../../shared/cost/transfer.ts';
import { beatIntervalMs } from '../../shared/holder/beat.ts';
import { fullReloadIntervalMs } from '../../shared/holder/load.ts';
import { pollMsMax } from '../../shared/queue/sqs.ts';
import { changesIntervalMs } from '../../shared/table/change-counters.ts';
import { constructed, nameOf, resourcesOf, synthesized } from '../support/synthesized.ts';

const https = (targets: number, periodSeconds = 10): CostInput => ({
  fleet: [{ targets, periodSeconds, probe: 'https' }],
  mode: 'auto',
  memorySize: 256,
  alarms: deployedAlarms,
  metrics: metricCount(false),
  dashboard: false,
});

/** Without data transfer. */
const usd = (input: CostInput): number => {
  const { usd: all, transferUsd: transfer } = estimateCost(input);
  return all - transfer;
};

describe('the estimate', () => {
  /** What the design reckons with for HTTPS each 10 s, by 256 MB or, beyond 256 shards of that, by what is needed. */
  const reckoned: readonly [number, number, number][] = [
    [1_000, 256, 29],
    [10_000, 256, 249],
    [1_000_000, 2_048, 24_000],
  ];
  for (const [targets, memorySize, expected] of reckoned)
    test(`of ${targets} HTTPS targets each 10 s is about $${expected} a month`, () => {
      const ratio = usd({ ...https(targets), memorySize }) / expected;
      assert.ok(ratio > 0.65 && ratio < 1.5, `ratio ${ratio}`);
    });

  test('has the layout that the product makes', () => {
    const shardsOf = (targets: number) => estimateCost(https(targets)).layout.shards.length;
    assert.deepEqual([1, 500, 1_000, 10_000].map(shardsOf), [1, 1, 2, 32]);
  });

  test('grows with targets, and falls with the period', () => {
    assert.ok(usd(https(20_000)) > usd(https(10_000)));
    assert.ok(usd(https(1_000, 30)) < usd(https(1_000, 10)));
  });

  test('is a fraction when a tick a minute is enough', () => {
    const lambda = (input: CostInput) => estimateCost(input).lines.find(({ what }) => what === 'Lambda')?.usd ?? 0;
    assert.equal(estimateCost(https(100, 60)).layout.shards[0]?.mode, 'tick');
    assert.ok(lambda(https(100, 60)) < lambda(https(100, 59)) / 2);
    assert.ok(lambda({ ...https(1_000), mode: 'tick' }) < lambda(https(1_000)));
  });

  test('is never more than that of the other mode, as far as runs of a tick may be long', () => {
    for (const targets of [1, 50, 128, 500, tickTargetsMax.alone, 5_000, 20_000]) {
      const [auto, ...forced] = (['auto', 'tick', 'resident'] as const).map((mode) =>
        usd({ ...https(targets, 60), mode }),
      );
      assert.ok((auto ?? 0) <= Math.min(...forced) * 1.01, `${targets}: ${auto}, ${forced.join(', ')}`);
    }
  });

  test('without targets is alarms, metrics and the schedule', () => {
    const { lines, layout } = estimateCost(https(0));
    assert.equal(layout.shards[0]?.mode, 'idle');
    const rest = lines.filter(({ what }) => what !== 'CloudWatch').reduce((sum, one) => sum + one.usd, 0);
    assert.ok(rest < 1, `${rest}`);
  });

  test('of CloudWatch is at most $2.50 for a deployment of default props, and more with each that adds to it', () => {
    const watched = (more: Partial<CostInput>) =>
      estimateCost({ ...https(100), ...more }).lines.find(({ what }) => what === 'CloudWatch')?.usd ?? 0;
    const [plain, shown, detailed] = [{}, { dashboard: true }, { metrics: metricCount(true) }].map(watched);
    assert.ok(plain !== undefined && plain <= 2.5, `${plain}`);
    assert.equal(shown?.toFixed(2), (plain + prices.dashboard.usd).toFixed(2));
    assert.ok(detailed !== undefined && detailed > plain + 5, `${detailed}`);
  });

  test('counts an alarm by the metrics that it watches, as AWS bills it', () => {
    for (const { Properties } of resourcesOf(synthesized(), 'AWS::CloudWatch::Alarm'))
      assert.deepEqual(
        [typeof Properties.MetricName, Properties.Metrics, Properties.Period >= 60],
        ['string', undefined, true],
      );
  });

  test('of one shard that is always held is mostly its 256 MB', () => {
    const { lines } = estimateCost(https(100));
    const lambda = lines.find(({ what }) => what === 'Lambda')?.usd ?? 0;
    const memory = 0.25 * 730 * 3_600 * prices.lambdaGbSecond.usd;
    assert.ok(lambda > memory && lambda < memory + 0.5, `${lambda} of ${memory}`);
  });

  test('sums up its lines', () => {
    const { lines, usd: total, transferUsd: transfer } = estimateCost(https(1_000));
    const sum = (some: typeof lines) => some.reduce((before, one) => before + one.usd, 0);
    assert.equal(total, sum(lines));
    assert.equal(transfer, sum(lines.filter(({ what }) => what === 'Data transfer')));
  });

  describe('of data transfer', () => {
    const monthProbes = 1_000 * (730 * 360);
    const transferOf = (reach: Reach | undefined, more: Partial<CostInput> = {}) => {
      const [part] = https(1_000).fleet as [FleetPart];
      return estimateCost({ ...https(1_000), fleet: [{ ...part, ...(reach && { reach }) }], ...more }).transferUsd;
    };
    const gigabytes = (direction: 'sent' | 'received', tlsSessionResumption = false) =>
      (probeTransfer({ probe: 'https' }, { tlsSessionResumption })[direction] * monthProbes) / 1e9;
    const rows: readonly [Reach | undefined, () => number][] = [
      ['internet', () => gigabytes('sent') * 0.09],
      [undefined, () => gigabytes('sent') * 0.09],
      ['region', () => (gigabytes('sent') + gigabytes('received')) * 0.01],
      ['vpc', () => (gigabytes('sent') + gigabytes('received')) * 0.01],
      [
        'nat',
        () => gigabytes('sent') * 0.09 + (gigabytes('sent') + gigabytes('received')) * 0.045 + 730 * (0.045 + 0.005),
      ],
    ];
    for (const [reach, expected] of rows)
      test(`by way ${reach ?? 'that is not given'}: what AWS bills for its bytes`, () =>
        assert.equal(transferOf(reach).toFixed(4), expected().toFixed(4)));

    test('is that of resumed sessions, if the deployment resumes them', () =>
      assert.equal(
        transferOf('region', { tlsSessionResumption: true }).toFixed(4),
        ((gigabytes('sent', true) + gigabytes('received', true)) * 0.01).toFixed(4),
      ));

    test('of a command is nothing', () =>
      assert.equal(
        estimateCost({ ...https(0), fleet: [{ targets: 1_000, periodSeconds: 10, probe: 'exec' }] }).transferUsd,
        0,
      ));
  });

  test('reckons with the cadence of the product', () => {
    assert.deepEqual(cadence, {
      beatSeconds: beatIntervalMs / 1_000,
      changesSeconds: changesIntervalMs / 1_000,
      reloadSeconds: fullReloadIntervalMs / 1_000,
    });
  });

  test('chooses the memory that holds a fleet at the least cost, with room', () => {
    for (const { targets, periodSeconds } of [
      { targets: 100, periodSeconds: 10 },
      { targets: 10_000, periodSeconds: 10 },
    ]) {
      const { fleet } = https(targets, periodSeconds);
      const memorySize = fittingMemory(fleet, 'auto');
      const shardsOf = (more: number) =>
        estimateCost({ ...https(targets * more, periodSeconds), memorySize }).layout.shards.length;
      assert.equal(shardsOf(1.1), shardsOf(1), `${targets} in ${memorySize} MB`);
      assert.ok(usd({ ...https(targets), memorySize }) <= usd(https(targets)));
    }
    assert.equal(fittingMemory(https(10_000_000).fleet, 'auto'), 1_792);
    assert.equal(fittingMemory(https(0).fleet, 'auto'), fittingMemory([], 'auto'));
  });

  test('of other services is their price for as many probes as they make', () => {
    const [often, seldom] = [
      { targets: 1, periodSeconds: 10 },
      { targets: 2, periodSeconds: 300, probesPerTarget: 2 },
    ];
    const cents = (peer: Peer, part: FleetPart) => Number((peerCost[peer](part) * 100).toFixed(2));
    assert.deepEqual([cents('route53', often), cents('route53', { ...often, probe: 'https' })], [150, 250]);
    assert.equal(cents('route53', seldom), 200);
    // No canary runs more often than each minute.
    assert.equal(cents('synthetics', often), cents('synthetics', { ...often, periodSeconds: 60 }));
    assert.equal(cents('lambdaPerTick', seldom), Number((cents('lambdaPerTick', often) * (4 / 30)).toFixed(2)));
  });

  describe('of tasks', () => {
    const fargate = (targets: number): CostInput => ({ ...https(targets), compute: 'fargate', memorySize: 1_769 });
    const lineOf = (input: CostInput, name: string) => estimateCost(input).lines.find(({ what }) => what === name)?.usd;

    test('is at most $0.013 a month for each of 10,000 HTTPS targets each 10 s', () => {
      const perTarget = usd(fargate(10_000)) / 10_000;
      assert.ok(perTarget <= 0.013, `${perTarget}`);
    });

    test('is one task for each shard and a spare one, by Spot, each with an address', () => {
      const { layout } = estimateCost(fargate(10_000));
      assert.equal(layout.shards.length, 4);
      const spot = spotPart * (prices.fargateVcpuHour.usd + 2 * prices.fargateGbHour.usd);
      const expected = 5 * 730 * (spot + prices.publicAddressHour.usd);
      assert.equal(lineOf(fargate(10_000), 'Fargate')?.toFixed(6), expected.toFixed(6));
    });

    test('has the function for nothing but schedule and status, and the table as with the function', () => {
      const [lambda = 0, same] = ['Lambda', 'DynamoDB'].map((name) => lineOf(fargate(10_000), name));
      assert.ok(lambda < 1, `${lambda}`);
      assert.equal(same, lineOf({ ...https(10_000), memorySize: 1_769 }, 'DynamoDB'));
    });

    test('polls as often as the queue does', () => assert.equal(taskPollSeconds * 1_000, pollMsMax));
  });

  test('names where each price is from', () => {
    for (const { usd: price, source } of Object.values(prices)) {
      assert.ok(price > 0);
      assert.match(source, /^https:\/\/aws\.amazon\.com\/\w+\/pricing\//);
    }
  });
});

describe('synth', () => {
  const said = (props: object) => {
    const { app } = constructed(props);
    const { messages } = app.synth().getStackByName('Probelet');
    return messages.map(({ level, entry }) => `${level} ${String(entry.data)}`);
  };

  test('says what the fleet will cost', () => {
    const [info, ...others] = said({ fleet: [{ targets: 1_000, periodSeconds: 10, probe: 'https' }], budget: 100 });
    const fleet = '1,000 targets with 1 https probe each 10 s over the internet, resident, 1 shard of 576 MB: Lambda ';
    assert.match(info ?? '', new RegExp(`^info About \\$\\d+\\.\\d\\d a month for ${fleet}\\d`));
    assert.deepEqual(
      others.filter((each) => !/^info alarmTopic: is missing/.test(each)),
      [],
    );
  });

  test('warns where data transfer alone passes the budget', () => {
    const warned = (reach: Reach) =>
      said({ fleet: [{ targets: 1_000, periodSeconds: 10, probe: 'https', reach }], budget: 60 }).filter((each) =>
        each.startsWith('warning budget: '),
      ).length;
    assert.deepEqual((['internet', 'nat', 'vpc'] as const).map(warned), [1, 1, 0]);
  });

  test('warns above the budget', () => {
    const [, warning] = said({ budget: 5 });
    assert.match(warning ?? '', /^warning budget: is \$5, less than the estimate\. About \$\d+\.\d\d a month for /);
  });

  test('says what a new account has to ask for, beyond two shards of the function', () => {
    const told = (targets: number, compute?: Compute) =>
      said({ fleet: [{ targets, periodSeconds: 10, probe: 'https' }], ...(compute && { compute }) }).filter((each) =>
        /^info fleet: \d+ shards need/.test(each),
      );
    assert.deepEqual([told(1_000), told(10_000, 'fargate')], [[], []]);
    assert.match(
      told(10_000)[0] ?? '',
      /: 4 shards need 14 concurrent executions of Lambda, and a new account has 10: /,
    );
  });

  test('has the estimate as an output too, since the CDK shows no info beside a warning', () => {
    const made = constructed({ fleet: [{ targets: 1_000, periodSeconds: 10, probe: 'https' }] });
    const { messages } = made.app.synth().getStackByName('Probelet');
    const outputs = Object.entries(Template.fromStack(made.stack).findOutputs('*'));
    const [output] = outputs.flatMap(([id, { Value }]) => (nameOf(id) === 'ProbeletEstimate' ? [Value] : []));
    assert.equal(output, messages[0]?.entry.data);
  });

  test('warns of a fleet that no number of shards of this size can hold', () => {
    const [, warning] = said({ fleet: [{ targets: 1_000_000, periodSeconds: 10, probe: 'https' }], memorySize: 256 });
    const tooFew = /^warning memorySize: 256 MB are too few .*, even in 256 shards; allowed: at least \d+ MB/;
    assert.match(warning ?? '', tooFew);
  });
});

describe('docs/operating.md', () => {
  const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');

  test('has the tables as `npm run cost` prints them', () => {
    for (const table of costTables().split('\n\n')) assert.ok(text.includes(table.trim()), table);
  });

  test('explains every alarm and every prop', () => {
    const fleet = [{ targets: 10_000, periodSeconds: 10 }];
    const { probelet } = constructed({ compute: 'fargate', fleet });
    const alarms = probelet.node.findAll().flatMap((one) => (one instanceof Alarm ? [one.node.id] : []));
    const rows = [...text.matchAll(/^\| `([\w -]+?)( …)?` \|/gm)].map(([, name = '', more]) => ({ name, more }));
    const isExplained = (id: string) =>
      rows.some(({ name, more }) => id === name || (more && id.startsWith(`${name} `)));
    for (const id of alarms) assert.ok(isExplained(id), id);
    assert.equal(alarms.length, deployedAlarms + taskAlarms);
    for (const prop of propNames) assert.ok(text.includes(`\`${prop}\``), prop);
  });
});
