/** What is in the account, by the services' own lists; on AWS by the first page of each. */
import assert from 'node:assert/strict';
import type { Send } from '../requests.ts';

type Listing = {
  readonly service: string;
  readonly path?: string;
  /** Of a POST: the action of the query protocol, or the target of a JSON protocol. */
  readonly action?: string;
  readonly target?: string;
  readonly input?: object;
  readonly name: RegExp;
  /** The answer where there is nothing to list in any more. */
  readonly gone?: string;
};

const json = (field: string): RegExp => new RegExp(`"${field}"\\s*:\\s*"([^"]+)"`, 'g');
const xml = (field: string): RegExp => new RegExp(`<${field}>([^<]+)</${field}>`, 'g');

/** `bus`: whose rules are listed, too. */
const listings = (bus: string | undefined): { readonly [kind: string]: Listing } => ({
  stacks: { service: 'cloudformation', action: 'DescribeStacks&Version=2010-05-15', name: xml('StackName') },
  functions: { service: 'lambda', path: '/2015-03-31/functions', name: json('FunctionName') },
  mappings: { service: 'lambda', path: '/2015-03-31/event-source-mappings', name: json('FunctionArn') },
  tables: { service: 'dynamodb', target: 'DynamoDB_20120810.ListTables', name: /"(Probelet[^"]*)"/g },
  queues: { service: 'sqs', target: 'AmazonSQS.ListQueues', name: /"(http[^"]+)"/g },
  buses: { service: 'events', target: 'AWSEvents.ListEventBuses', name: json('Name') },
  rules: { service: 'events', target: 'AWSEvents.ListRules', name: json('Name') },
  ...(bus !== undefined && {
    'rules of the bus': {
      ...{ service: 'events', target: 'AWSEvents.ListRules', input: { EventBusName: bus } },
      ...{ name: json('Name'), gone: 'ResourceNotFoundException' },
    },
  }),
  apis: { service: 'apigateway', path: '/v2/apis', name: json('name') },
  'log groups': { service: 'logs', target: 'Logs_20140328.DescribeLogGroups', name: json('logGroupName') },
  alarms: { service: 'monitoring', action: 'DescribeAlarms&Version=2010-08-01', name: xml('AlarmName') },
  dashboards: { service: 'monitoring', action: 'ListDashboards&Version=2010-08-01', name: xml('DashboardName') },
  roles: { service: 'iam', action: 'ListRoles&Version=2010-05-08', name: xml('RoleName') },
});

/** The CDK's bootstrap and the emulator have some of their own. */
const isOfStacks = (name: string): boolean => !/^(CDKToolkit|cdk-|AWSServiceRole|default$)/.test(name);

export type Inventory = Readonly<Record<string, readonly string[]>>;

type Account = { readonly send: Send; urlOf(service: string): string };

type Options = { readonly bus?: string; readonly isOurs?: (name: string) => boolean };

/** `isOurs`: by default all but what is there without any stack. */
export async function inventory({ send, urlOf }: Account, { bus, isOurs = isOfStacks }: Options): Promise<Inventory> {
  const entries = await Promise.all(
    Object.entries(listings(bus)).map(async ([kind, listing]) => {
      const { status, text } = await send(requestOf(urlOf(listing.service), listing));
      const isGone = listing.gone !== undefined && text.includes(listing.gone);
      assert.ok(status === 200 || isGone, `${kind}: ${status} ${text}`);
      const names = [...text.matchAll(listing.name)].map(([, name = '']) => name);
      return [kind, [...new Set(names)].filter(isOurs)] as const;
    }),
  );
  return Object.fromEntries(entries);
}

function requestOf(endpoint: string, { service, path = '/', action, target, input = {} }: Listing) {
  const url = endpoint + path;
  if (action !== undefined) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { service, method: 'POST', url, headers, body: `Action=${action}` };
  }
  if (target === undefined) return { service, method: 'GET', url };
  const version = service === 'dynamodb' || service === 'sqs' ? '1.0' : '1.1';
  const headers = { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': target };
  return { service, method: 'POST', url, headers, body: JSON.stringify(input) };
}

/** A list that shows nothing while everything is there would show nothing afterwards either. */
export function requireAll(found: Inventory): void {
  for (const [kind, names] of Object.entries(found)) assert.notEqual(names.length, 0, `no ${kind} to be seen`);
}

export function requireNone(found: Inventory): void {
  const left = Object.entries(found).filter(([, names]) => names.length > 0);
  assert.deepEqual(Object.fromEntries(left), {});
}
