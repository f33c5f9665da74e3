/** Reports the estimated cost of the deployment at synth. */
import type { Annotations } from 'aws-cdk-lib';
import { metricCount } from '../functions/lambda/metrics.ts';
import { type CostEstimate, estimateCost } from '../shared/cost/estimate.ts';
import {
  type ComputeChoice,
  type Fleet,
  type FleetMode,
  type FleetPart,
  heldText,
  tooHeavyText,
  wayText,
} from '../shared/cost/fleet.ts';
import { pricesReadIn, pricesRegion } from '../shared/cost/prices.ts';
import { newAccountConcurrency, otherConcurrency, proberConcurrencyOf } from '../shared/cost/sizes.ts';

type Input = ComputeChoice & {
  readonly fleet?: Fleet;
  readonly mode: FleetMode;
  readonly alarms: number;
  readonly detailedMetrics?: boolean;
  readonly dashboard?: boolean;
  readonly budget?: number;
  readonly reservedConcurrency?: number;
  readonly maxConcurrency?: number;
  readonly tlsSessionResumption?: boolean;
};

/** The fleet to estimate if the props do not give one. */
const fleetDefault: Fleet = [{ targets: 100, periodSeconds: 10 }];

/**
 * Adds an info with the estimate, and a warning if it exceeds the budget or the fleet exceeds the capacity of the
 * shards. Returns the estimate too: the CDK's command prints infos only in an app without any warning.
 */
export function warnOfCost(annotations: Annotations, { budget, fleet, ...input }: Input): string {
  const { detailedMetrics = false, dashboard = false } = input;
  if (!fleet && (input.reservedConcurrency ?? input.maxConcurrency) !== undefined)
    annotations.addInfo('fleet: is not given, so the limits of concurrency were held against one shard');
  const estimate = estimateCost({
    ...input,
    fleet: fleet ?? fleetDefault,
    metrics: metricCount(detailedMetrics),
    dashboard,
  });
  const described = describeEstimate(estimate, fleet, input);
  annotations.addInfo(described);
  if (budget !== undefined && estimate.usd > budget)
    annotations.addWarningV2('probelet:budget', `budget: is $${budget}, less than the estimate. ${described}`);
  if (estimate.layout.load > 1) annotations.addWarningV2('probelet:capacity', tooHeavy(estimate, input));
  sayConcurrency(annotations, estimate, input.compute);
  return described;
}

/** Tasks take none of it. */
function sayConcurrency(annotations: Annotations, { layout }: CostEstimate, compute: ComputeChoice['compute']): void {
  const needed = proberConcurrencyOf(layout) + otherConcurrency;
  if (compute === 'fargate' || needed <= newAccountConcurrency) return;
  annotations.addInfoV2(
    'probelet:concurrency',
    `fleet: ${layout.shards.length} shards need ${needed} concurrent executions of Lambda, and a new account has ${newAccountConcurrency}: see "aws lambda get-account-settings", and request an increase before you deploy`,
  );
}

function tooHeavy({ layout }: CostEstimate, choice: ComputeChoice): string {
  const said = tooHeavyText(layout, choice);
  if (choice.compute === 'fargate') return `fleet: ${said}`;
  return `memorySize: ${said}, even in ${layout.shards.length} shards; allowed: at least ${Math.ceil(choice.memorySize * layout.load)} MB`;
}

export function describeEstimate(
  { lines, usd, layout }: CostEstimate,
  fleet: Fleet | undefined,
  choice: ComputeChoice,
): string {
  const { shards } = layout;
  const parts = lines.map((line) => `${line.what} ${dollars(line.usd)}`).join(', ');
  const assumed = fleet ? '' : ' (the prop fleet says what there really is)';
  const mode = shards[0]?.mode ?? 'idle';
  return (
    `About $${dollars(usd)} a month for ${(fleet ?? fleetDefault).map(described).join(' and ')}${assumed}, ` +
    `${mode}, ${shards.length} ${shards.length === 1 ? 'shard' : 'shards'} ${heldText(layout, choice)}: ${parts}. ` +
    `Prices of ${pricesRegion}, read in ${pricesReadIn}, without free tiers, API calls and keys.`
  );
}

const described = ({ targets, periodSeconds, probe = 'http', probesPerTarget = 1, reach }: FleetPart): string =>
  `${targets.toLocaleString('en')} targets with ${probesPerTarget} ${probe} ${probesPerTarget === 1 ? 'probe' : 'probes'} each ${periodSeconds} s ${wayText(reach)}`;

const dollars = (usd: number): string => usd.toFixed(2);
