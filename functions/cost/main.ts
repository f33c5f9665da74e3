/**
 * `npm run cost`: what fleets of some sizes cost a month on AWS, and what the same probes cost with other services.
 * docs/operating.md has these tables.
 */
import { memoryFor } from '../../shared/cost/compute.ts';
import { type CostEstimate, deployedAlarms, estimateCost, taskAlarms } from '../../shared/cost/estimate.ts';
import { fittingMemory } from '../../shared/cost/fitting-memory.ts';
import type { FleetPart } from '../../shared/cost/fleet.ts';
import { type Peer, peerCost } from '../../shared/cost/peers.ts';
import { type Compute, tasksOf } from '../../shared/cost/tasks.ts';
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
  const services = estimates[0]?.lines.map(({ what }) => what) ?? [];
  const cost = estimates.map(({ part, memorySize, layout, lines, usd }) => [
    ...[...cellsOf(part), `${memorySize} MB`, `${layout.shards.length}`],
    ...[...lines.map((line) => line.usd), usd].map((one) => one.toFixed(2)),
  ]);
  const compared = estimates.map(({ part, usd }) => [
    ...cellsOf(part),
    ...[usd, ...peers.map((peer) => peerCost[peer](part))].map((one) => perTarget(one / part.targets)),
  ]);
  return [
    table([...fleetColumns, 'memory', 'shards', ...services, 'all'], cost),
    tasksTable(),
    table([...fleetColumns, 'probelet', 'a Lambda per tick', 'Route 53', 'Synthetics'], compared),
  ].join('\n');
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
  const services = estimates[0]?.fargate.lines.map(({ what }) => what) ?? [];
  const rows = estimates.map(({ part, lambda, fargate }) => [
    ...[...cellsOf(part), `${tasksOf(fargate.layout)}`],
    ...[...fargate.lines.map((line) => line.usd), fargate.usd].map((one) => one.toFixed(2)),
    ...[fargate.usd, lambda.usd].map((one) => perTarget(one / part.targets)),
  ]);
  return table([...fleetColumns, 'tasks', ...services, 'all', 'a target', 'a target with the function'], rows);
}

const watchedWith = (compute: Compute) => ({
  ...watched,
  alarms: watched.alarms + (compute === 'fargate' ? taskAlarms : 0),
});

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
