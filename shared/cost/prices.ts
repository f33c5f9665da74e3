/**
 * Published prices for us-east-1 in US dollars, without free tiers, read in 2026 from the pages named. This is the only
 * place to update a price.
 */
export type Price = { readonly usd: number; readonly source: string };

export const pricesReadIn = '2026';
export const pricesRegion = 'us-east-1';

/** AWS reckons with 730 hours. */
export const monthSeconds = 730 * 3_600;

const million = 1_000_000;

export const prices = {
  lambdaGbSecond: { usd: 0.0000133334, source: 'https://aws.amazon.com/lambda/pricing/' },
  lambdaRequest: { usd: 0.2 / million, source: 'https://aws.amazon.com/lambda/pricing/' },
  /** Linux on arm64. */
  fargateVcpuHour: { usd: 0.03238, source: 'https://aws.amazon.com/fargate/pricing/' },
  fargateGbHour: { usd: 0.00356, source: 'https://aws.amazon.com/fargate/pricing/' },
  /** The public address of a task in a public subnet. */
  publicAddressHour: { usd: 0.005, source: 'https://aws.amazon.com/vpc/pricing/' },
  dynamodbWrite: { usd: 0.625 / million, source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/' },
  dynamodbRead: { usd: 0.125 / million, source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/' },
  dynamodbStoredGb: { usd: 0.25, source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/' },
  /** Point-in-time recovery. */
  dynamodbRecoveryGb: { usd: 0.2, source: 'https://aws.amazon.com/dynamodb/pricing/on-demand/' },
  /** Out to the internet, up to 10 TB a month. */
  internetGb: { usd: 0.09, source: 'https://aws.amazon.com/ec2/pricing/on-demand/' },
  /** Each direction, by public addresses within the region. */
  regionGb: { usd: 0.01, source: 'https://aws.amazon.com/ec2/pricing/on-demand/' },
  /** Each direction, between zones. */
  zoneGb: { usd: 0.01, source: 'https://aws.amazon.com/ec2/pricing/on-demand/' },
  natHour: { usd: 0.045, source: 'https://aws.amazon.com/vpc/pricing/' },
  natGb: { usd: 0.045, source: 'https://aws.amazon.com/vpc/pricing/' },
  sqsFifoRequest: { usd: 0.5 / million, source: 'https://aws.amazon.com/sqs/pricing/' },
  sqsRequest: { usd: 0.4 / million, source: 'https://aws.amazon.com/sqs/pricing/' },
  event: { usd: 1 / million, source: 'https://aws.amazon.com/eventbridge/pricing/' },
  customMetric: { usd: 0.3, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  alarm: { usd: 0.1, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  dashboard: { usd: 3, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  logGb: { usd: 0.5, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
  /** For the comparison with other services of AWS. Route 53: of endpoints on AWS, others cost more. */
  scheduledInvocation: { usd: 1 / million, source: 'https://aws.amazon.com/eventbridge/pricing/' },
  healthCheck: { usd: 0.5, source: 'https://aws.amazon.com/route53/pricing/' },
  healthCheckFeature: { usd: 1, source: 'https://aws.amazon.com/route53/pricing/' },
  canaryRun: { usd: 0.0012, source: 'https://aws.amazon.com/cloudwatch/pricing/' },
} as const satisfies { readonly [what: string]: Price };

/**
 * What Fargate Spot costs of the price on demand. AWS names a discount of up to 70 % and changes it with supply and
 * demand; this assumes the whole of it. Source: https://aws.amazon.com/fargate/pricing/
 */
export const spotPart = 0.3;
