/**
 * What the same probes cost with other services of AWS. Pure. Where a service has to be used in a certain way, this
 * assumes the cheapest one.
 */
import { type FleetPart, probesPerSecond } from './fleet.ts';
import { monthSeconds, prices } from './prices.ts';

export type Peer = 'lambdaPerTick' | 'route53' | 'synthetics';

/**
 * A schedule invokes a function for each probe. Lambda's smallest function, as long as a probe of a target nearby takes
 * with a cold connection. It keeps no state, writes no log and has no alarm.
 */
const tickGb = 0.125;
const tickSeconds = 0.1;

/** Its shorter interval is an optional feature. Source: "Values that you specify when you create a health check". */
const route53FastSeconds = 10;

/** The shortest rate of a canary. Source: "CanaryScheduleInput", the API of CloudWatch Synthetics. */
const syntheticsSecondsMin = 60;

/** US dollars a month for this part of a fleet. */
export const peerCost: { readonly [name in Peer]: (part: FleetPart) => number } = {
  lambdaPerTick: (part) =>
    probesPerSecond(part) *
    monthSeconds *
    (prices.scheduledInvocation.usd + prices.lambdaRequest.usd + tickGb * tickSeconds * prices.lambdaGbSecond.usd),
  route53({ targets, periodSeconds, probe = 'http', probesPerTarget = 1 }) {
    const features = Number(probe === 'https') + Number(periodSeconds <= route53FastSeconds);
    return targets * probesPerTarget * (prices.healthCheck.usd + features * prices.healthCheckFeature.usd);
  },
  synthetics: (part) =>
    probesPerSecond({ ...part, periodSeconds: Math.max(part.periodSeconds, syntheticsSecondsMin) }) *
    monthSeconds *
    prices.canaryRun.usd,
};
