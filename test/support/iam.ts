/**
 * What IAM would decide on a request: which actions on which resources it asks for, and whether a role allows them.
 * Emulators do not check it. Sources: "Actions, resources, and condition keys for AWS services" in the Service
 * Authorization Reference; "Using IAM with DynamoDB transactions": a transaction has no action of its own, each of its
 * items is checked as the single-item action that it performs.
 */
import type { Answer, ProxiedCall } from './fault-proxy.ts';

/** One action on one resource, as `dynamodb:GetItem on arn:aws:dynamodb:…`. */
export type Ask = { readonly action: string; readonly resource: string; readonly eventSource?: string };

export type Statement = {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: { readonly StringEquals?: { readonly [key: string]: unknown } };
};

export const account = '000000000000';
export const region = 'us-east-1';

const arn = (service: string, rest: string): string => `arn:aws:${service}:${region}:${account}:${rest}`;

export const arnOf = {
  table: (name: string) => arn('dynamodb', `table/${name}`),
  queue: (url: string) => arn('sqs', url.split('/').at(-1) ?? ''),
  bus: (name: string) => arn('events', `event-bus/${name}`),
} as const;

export const askText = ({ action, resource }: Ask): string => `${action} on ${resource}`;

/** The access key and the service that a request is signed for. */
export function signedBy({ headers }: Pick<ProxiedCall, 'headers'>): {
  readonly key: string;
  readonly service: string;
} {
  const [, key = '', service = ''] =
    /Credential=([^/]+)\/\d+\/[^/]+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
  return { key, service };
}

/** What the request asks for. A service or operation that is not known here is an action that no role allows. */
export function asksOf(call: ProxiedCall): readonly Ask[] {
  const { service } = signedBy(call);
  const known = askers[service]?.(call);
  return known ?? [{ action: `${service}:${call.operation || call.path}`, resource: '*' }];
}

const askers: { readonly [service: string]: (call: ProxiedCall) => readonly Ask[] } = {
  dynamodb: ({ operation, body }) => tableAsks(operation, JSON.parse(body)),
  sqs: ({ operation, body }) => [{ action: `sqs:${operation}`, resource: arnOf.queue(JSON.parse(body).QueueUrl) }],
  events: ({ operation, body }) =>
    JSON.parse(body).Entries.map(({ EventBusName = 'default', Source = '' }: EntryInput) => ({
      action: `events:${operation}`,
      resource: arnOf.bus(EventBusName),
      eventSource: Source,
    })),
  secretsmanager: ({ operation, body }) => [
    // Secrets Manager puts six characters of its own behind the name.
    {
      action: `secretsmanager:${operation}`,
      resource: arn('secretsmanager', `secret:${JSON.parse(body).SecretId}-AbCdEf`),
    },
  ],
  ssm: ({ operation, body }) => commandAsks(operation, JSON.parse(body)),
  lambda: ({ path }) => {
    const [, encoded] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(path) ?? [];
    return [
      { action: encoded ? 'lambda:InvokeFunction' : `lambda:${path}`, resource: decodeURIComponent(encoded ?? '*') },
    ];
  },
};

type EntryInput = { readonly EventBusName?: string; readonly Source?: string };

const transactActions: { readonly [member: string]: string } = {
  ConditionCheck: 'ConditionCheckItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  Get: 'GetItem',
};

type TableInput = {
  readonly TableName?: string;
  readonly TransactItems?: readonly { readonly [member: string]: { readonly TableName: string } }[];
  readonly RequestItems?: { readonly [table: string]: unknown };
};

function tableAsks(operation: string, { TableName, TransactItems, RequestItems }: TableInput): readonly Ask[] {
  const ask = (action: string, table: string): Ask => ({ action: `dynamodb:${action}`, resource: arnOf.table(table) });
  if (TransactItems)
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([member, { TableName: of }]) => ask(transactActions[member] ?? member, of)),
    );
  if (RequestItems) return Object.keys(RequestItems).map((table) => ask(operation, table));
  return [ask(operation, TableName ?? '')];
}

type CommandInput = {
  readonly Name?: string;
  readonly DocumentName?: string;
  readonly InstanceIds?: readonly string[];
};

function commandAsks(operation: string, { Name, DocumentName, InstanceIds = [] }: CommandInput): readonly Ask[] {
  const action = `ssm:${operation}`;
  switch (operation) {
    case 'GetParameter':
      return [{ action, resource: arn('ssm', `parameter/${Name?.replace(/^\//, '')}`) }];
    case 'SendCommand':
      return [
        { action, resource: `arn:aws:ssm:${region}::document/${DocumentName}` },
        ...InstanceIds.map((id) => ({
          action,
          resource: id.startsWith('mi-') ? arn('ssm', `managed-instance/${id}`) : arn('ec2', `instance/${id}`),
        })),
      ];
    default:
      return [{ action, resource: '*' }];
  }
}

/**
 * Allowed by some statement and denied by none. The condition on the source of an event is judged; others are taken to
 * hold: they ask for the tag of an instance, and whether a call comes from within a function.
 */
export function isAllowed(statements: readonly Statement[], ask: Ask): boolean {
  const applying = statements.filter((statement) => applies(statement, ask));
  return applying.some(({ Effect }) => Effect === 'Allow') && applying.every(({ Effect }) => Effect === 'Allow');
}

const applies = ({ Action, Resource, Condition }: Statement, { action, resource, eventSource }: Ask): boolean =>
  [Action].flat().some((pattern) => matches(pattern, action)) &&
  [Resource].flat().some((pattern) => matches(pattern, resource)) &&
  [undefined, eventSource].includes(Condition?.StringEquals?.['events:source'] as string | undefined);

function matches(pattern: string, text: string): boolean {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(text);
}

/** As the services answer it: SQS still by the code of its older protocol, Lambda over REST, the others in JSON. */
export function refusal({ service }: { readonly service: string }, principal: string, ask: Ask): Answer {
  const message = `User: ${principal} is not authorized to perform: ${ask.action} on resource: ${ask.resource} because no identity-based policy allows the ${ask.action} action`;
  const type = 'com.amazon.coral.service#AccessDeniedException';
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  switch (service) {
    case 'sqs':
      return {
        status: 403,
        headers: { ...headers, 'x-amzn-query-error': 'AccessDenied;Sender' },
        body: JSON.stringify({ __type: type, message }),
      };
    case 'lambda':
      return {
        status: 403,
        headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'AccessDeniedException' },
        body: JSON.stringify({ Message: message }),
      };
    default:
      return { status: 400, headers, body: JSON.stringify({ __type: type, Message: message }) };
  }
}
