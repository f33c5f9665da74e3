/**
 * `npm run cost`: what fleets of some sizes cost a month on AWS, and what the same probes cost with other services.
 * docs/operating.md has these tables.
 */
import { fittingMemory, memoryFor } from '../../shared/cost/compute.ts';
import { type CostEstimate, deployedAlarms, estimateCost, taskAlarms } from '../../shared/cost/estimate.ts';
import { type Compute, type FleetPart, reaches, tasksOf } from '../../shared/cost/fleet.ts';
import { type Peer, peerCost } from '../../shared/cost/peers.ts';
import {
  otherConcurrency,
  proberConcurrencyOf,
  syncConcurrencyOf,
  syncsPerSecond,
  throughputOf,
} from '../../shared/cost/sizes.ts';
import { natGatewayUsd, probeTransfer, type TransferOptions, transferUsd } from '../../shared/cost/transfer.ts';
import { metricCount } from '../lambda/metrics.ts';

type Shown = FleetPart & Required<Pick<FleetPart, 'probe'>>;

const fleets: readonly Shown[] = [
  { targets: 100, probe: 'http', periodSeconds: 10 },
  { targets: 1_000, probe: 'http', periodSeconds: 10 },
  { targets: 1_000, probe: 'https', periodSeconds: 10 },
  { targets: 100, probe: 'https', periodSeconds: 60 },
  { targets: 1_000, probe: 'https', periodSeconds: 60 },
  { targets: 10_000, probe: 'http', periodSeconds: 10 },
  { targets: 10_000, probe: 'https', periodSeconds: 10 },
  { targets: 100_000, probe: 'https', periodSeconds: 10 },
];

const mode = 'auto';
const watched = { alarms: deployedAlarms, metrics: metricCount(false), dashboard: false } as const;
const peers: readonly Peer[] = ['lambdaPerTick', 'route53', 'synthetics'];

/** Fleets for which the second table shows tasks beside the function. */
const tasksPartMin = 1_000;

/** In Markdown. */
export function costTables(): string {
  const estimates = fleets.map((part) => {
    const memorySize = fittingMemory([part], mode);
    return { part, memorySize, ...estimateCost({ ...watched, fleet: [part], mode, memorySize }) };
  });
  const cost = estimates.map(({ part, memorySize, layout, ...estimate }) => [
    ...[...cellsOf(part), `${memorySize} MB`, `${layout.shards.length}`],
    ...costCells(estimate),
  ]);
  const compared = estimates.map(({ part, usd, transferUsd: transfer }) => [
    ...cellsOf(part),
    ...[usd - transfer, ...peers.map((peer) => peerCost[peer](part)), transfer].map((one) =>
      perTarget(one / part.targets),
    ),
  ]);
  return [
    table([...fleetColumns, 'memory', 'shards', ...costColumns(estimates)], cost),
    transferTable(),
    tasksTable(),
    table(
      [...fleetColumns, 'probelet', 'a Lambda per tick', 'Route 53', 'Synthetics', 'data transfer beside'],
      compared,
    ),
    savingsTable(),
    sizesTable(),
  ].join('\n');
}

/** Services first, since data transfer is the same for whatever sends the probes. */
const serviceLines = ({ lines }: Pick<CostEstimate, 'lines'>) => lines.filter(({ what }) => what !== 'Data transfer');

const costColumns = ([first]: readonly Pick<CostEstimate, 'lines'>[]): readonly string[] => [
  ...(first ? serviceLines(first).map(({ what }) => what) : []),
  'all services',
  'data transfer',
];

const costCells = (estimate: Pick<CostEstimate, 'lines' | 'usd' | 'transferUsd'>): readonly string[] => {
  const { usd, transferUsd: transfer } = estimate;
  return [...serviceLines(estimate).map((line) => line.usd), usd - transfer, transfer].map((one) => one.toFixed(2));
};

/** What the network costs for each 1,000 targets, by protocol, period and the way to them. */
function transferTable(): string {
  const kinds: readonly (readonly [string, Pick<FleetPart, 'probe' | 'periodSeconds'>, boolean])[] = [
    ['tcp', { probe: 'tcp', periodSeconds: 10 }, false],
    ['http', { probe: 'http', periodSeconds: 10 }, false],
    ['grpc', { probe: 'grpc', periodSeconds: 10 }, false],
    ['https', { probe: 'https', periodSeconds: 10 }, false],
    ['https, `tlsSessionResumption`', { probe: 'https', periodSeconds: 10 }, true],
    ['https', { probe: 'https', periodSeconds: 60 }, false],
  ];
  const rows = kinds.map(([name, part, tlsSessionResumption]) => {
    const { sent, received } = probeTransfer(part, { tlsSessionResumption });
    const usdBy = reaches.map((reach) => transferUsd({ ...part, targets: 1_000, reach }, { tlsSessionResumption }));
    const period = `${part.periodSeconds} s`;
    return [name, period, `${sent}`, `${received}`, ...usdBy.map((usd) => usd.toFixed(2))];
  });
  const nat = `nat, and $${natGatewayUsd.toFixed(2)} for each gateway`;
  return table(['probe', 'period', 'bytes sent', 'bytes received', ...reaches.slice(0, -1), nat], rows);
}

/** What fleets cost with tasks of Fargate Spot, beside the same with the function. */
function tasksTable(): string {
  const large = fleets.filter(({ targets, periodSeconds }) => targets >= tasksPartMin && periodSeconds <= 10);
  const estimates = large.map((part) => {
    const fleet = [part];
    const [lambda, fargate] = (['lambda', 'fargate'] as const).map((compute) =>
      estimateCost({ ...watchedWith(compute), fleet, mode, compute, memorySize: memoryFor(compute, fleet, mode) }),
    ) as [CostEstimate, CostEstimate];
    return { part, lambda, fargate };
  });
  const rows = estimates.map(({ part, lambda, fargate }) => [
    ...[...cellsOf(part), `${tasksOf(fargate.layout)}`],
    ...costCells(fargate),
    ...[fargate, lambda].map((one) => perTarget((one.usd - one.transferUsd) / part.targets)),
  ]);
  const columns = costColumns(estimates.map(({ fargate }) => fargate));
  return table([...fleetColumns, 'tasks', ...columns, 'a target', 'a target with the function'], rows);
}

const watchedWith = (compute: Compute) => ({
  ...watched,
  alarms: watched.alarms + (compute === 'fargate' ? taskAlarms : 0),
});

type SavingOptions = TransferOptions & { readonly compute?: Compute };

/** What a target of 10,000 costs, and what it costs with one thing changed. */
function savingsTable(): string {
  const plain: Shown = { targets: 10_000, probe: 'https', periodSeconds: 10 };
  const rows: readonly (readonly [what: string, change: Partial<Shown>, options?: SavingOptions])[] = [
    ['HTTPS each 10 s', {}],
    ['each 30 s', { periodSeconds: 30 }],
    ['each 60 s', { periodSeconds: 60 }],
    ['gRPC', { probe: 'grpc' }],
    ['HTTP', { probe: 'http' }],
    ['TCP', { probe: 'tcp' }],
    ['`tlsSessionResumption`, without the CPU that it spares', {}, { tlsSessionResumption: true }],
    ['within the region', { reach: 'region' }],
    ['tasks', {}, { compute: 'fargate' }],
  ];
  const costs = rows.map(([what, change, options]) => {
    const compute: Compute = options?.compute ?? 'lambda';
    const fleet = [{ ...plain, ...change }];
    const memorySize = memoryFor(compute, fleet, mode);
    const estimate = estimateCost({ ...watchedWith(compute), fleet, mode, ...options, compute, memorySize });
    return { what, usd: estimate.usd / plain.targets, transfer: estimate.transferUsd / plain.targets };
  });
  const whole = costs[0]?.usd ?? 0;
  const cells = costs.map(({ what, usd, transfer }) => [
    ...[what, perTarget(usd - transfer), perTarget(transfer), perTarget(usd)],
    `${Math.round((1 - usd / whole) * 100)} %`,
  ]);
  return table(['a target of 10,000', 'all services', 'data transfer', 'together', 'saved'], cells);
}

/** What grows with the fleet and is chosen for it, beside memory and shards. */
function sizesTable(): string {
  const rows = [100, 10_000, 100_000].map((targets) => {
    const fleet: readonly Shown[] = [{ targets, probe: 'https', periodSeconds: 10 }];
    const memorySize = fittingMemory(fleet, mode);
    const { layout } = estimateCost({ ...watched, fleet, mode, memorySize });
    const { readUnitsPerSecond, writeUnitsPerSecond } = throughputOf(fleet);
    const syncs = syncConcurrencyOf(fleet);
    const sizes = [layout.shards.length, proberConcurrencyOf(layout) + otherConcurrency, syncs, syncs * syncsPerSecond];
    return [...[targets, memorySize, ...sizes, readUnitsPerSecond, writeUnitsPerSecond].map(String)];
  });
  const columns = [
    'memory, MB',
    'shards',
    'concurrent executions, at least',
    'of status-sync, at most',
    'syncs a second',
  ];
  return table(['targets', ...columns, 'read units a second', 'write units a second'], rows);
}

const fleetColumns = ['targets', 'probe', 'period'];

const cellsOf = ({ targets, probe, periodSeconds }: Shown): readonly string[] => [
  `${targets}`,
  probe,
  `${periodSeconds} s`,
];

const perTarget = (usd: number): string => usd.toFixed(usd < 1 ? 4 : 2);

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

if (import.meta.main) process.stdout.write(costTables());
