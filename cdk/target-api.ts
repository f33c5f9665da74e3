/** The HTTP API: its routes, their authorization, and the function behind them. */
import { Duration, RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { tableActions } from '../functions/rights.ts';
import { type FunctionSettings, NodeFunction } from './node-function.ts';
import { deploymentSuffix } from './physical-name.ts';
import { allow, publishOn, useKey } from './statement.ts';

/** `anyone` means no authentication. */
type Access = 'register' | 'read' | 'anyone';

type ApiRoute = { readonly method: HttpMethod; readonly path: string; readonly access: Access };

const targets = '/v1/namespaces/{namespace}/targets';
const target = `${targets}/{name}`;

/** The app's routes that work here: an HTTP API cannot stream `/v1/watch`, and CloudWatch replaces `/metrics`. */
export const apiRoutes: readonly ApiRoute[] = [
  { method: HttpMethod.GET, path: '/healthz', access: 'anyone' },
  { method: HttpMethod.GET, path: '/openapi.json', access: 'read' },
  { method: HttpMethod.GET, path: '/v1/prober', access: 'read' },
  { method: HttpMethod.GET, path: '/v1/targets', access: 'read' },
  { method: HttpMethod.PUT, path: '/v1/targets:apply', access: 'register' },
  { method: HttpMethod.GET, path: targets, access: 'read' },
  { method: HttpMethod.POST, path: targets, access: 'register' },
  { method: HttpMethod.GET, path: target, access: 'read' },
  { method: HttpMethod.GET, path: `${target}/events`, access: 'read' },
  { method: HttpMethod.PUT, path: targets, access: 'register' },
  { method: HttpMethod.PUT, path: target, access: 'register' },
  { method: HttpMethod.PATCH, path: target, access: 'register' },
  { method: HttpMethod.DELETE, path: target, access: 'register' },
  { method: HttpMethod.PUT, path: `${target}/status`, access: 'register' },
  { method: HttpMethod.POST, path: `${target}/restarted`, access: 'register' },
  { method: HttpMethod.POST, path: `${target}/probe`, access: 'register' },
  { method: HttpMethod.PUT, path: '/v1/namespaces/{namespace}/desired', access: 'register' },
];

/** More memory means more CPU, which shortens cold starts. */
const memorySize = 512;
/** The HTTP API times out after 30 s. */
const timeout = Duration.seconds(29);
/**
 * Requests per second: enough for a registry of targets, too few to take the account's concurrency from the probers.
 */
const throttle = { rateLimit: 50, burstLimit: 100 } as const;

type Props = {
  readonly settings: FunctionSettings;
  readonly table: ITableV2;
  readonly bus: EventBus;
  readonly authorizer?: IHttpRouteAuthorizer | undefined;
  readonly reservedConcurrency?: number | undefined;
};

export class TargetApi extends Construct {
  readonly api: HttpApi;
  readonly url: string;
  readonly handler: NodeFunction;
  readonly #isIam: boolean;

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id);
    const { settings, authorizer = new HttpIamAuthorizer() } = props;
    this.#isIam = authorizer instanceof HttpIamAuthorizer;
    this.handler = apiFunction(this, props);
    this.api = new HttpApi(this, 'Resource', {
      apiName: `probelet-${deploymentSuffix(this)}`,
      description: 'Targets and their status',
      createDefaultStage: false,
      defaultAuthorizer: authorizer,
    });
    const integration = new HttpLambdaIntegration('Integration', this.handler.function, {
      scopePermissionToRoute: false,
    });
    for (const { method, path, access } of apiRoutes) {
      const open = access === 'anyone' ? { authorizer: new HttpNoneAuthorizer() } : {};
      const [route] = this.api.addRoutes({ path, methods: [method], integration, ...open });
      if (access === 'anyone' && route) Validations.of(route).acknowledge(openRoute);
    }
    this.url = defaultStage(this, this.api, settings).url;
  }

  /** Lets `grantee` register, report, trigger, remove and read targets. */
  grantRegister(grantee: IGrantable): void {
    this.#grant(grantee, ['register', 'read']);
  }

  /** Lets `grantee` read targets and their status. */
  grantReadStatus(grantee: IGrantable): void {
    this.#grant(grantee, ['read']);
  }

  /** CDK's grant for a route would allow every path that begins like it. */
  #routeArn({ method, path }: ApiRoute): string {
    const resourceName = `*/${method}${path.replaceAll(/\{\w+\}/g, '*')}`;
    return Stack.of(this).formatArn({ service: 'execute-api', resource: this.api.apiId, resourceName });
  }

  #grant(grantee: IGrantable, accesses: readonly Access[]): void {
    if (!this.#isIam)
      throw new RangeError('authorizer: grants are for IAM; with another authorizer it decides who may call');
    const routes = apiRoutes.filter(({ access }) => accesses.includes(access));
    const resourceArns = routes.map((route) => this.#routeArn(route));
    const { success } = Grant.addToPrincipal({ grantee, actions: ['execute-api:Invoke'], resourceArns });
    if (!success || isOfAnotherAccount(grantee, this))
      throw new RangeError(
        `grantee: ${describedPrincipal(grantee)} takes no policy of this stack, so nothing would be granted; let it assume a role of this account, and grant that role`,
      );
  }
}

/** The CDK adds no policy to such a role, although it reports success. */
function isOfAnotherAccount({ grantPrincipal }: IGrantable, scope: Construct): boolean {
  const accounts = [grantPrincipal.principalAccount, Stack.of(scope).account];
  return accounts.every((each) => each !== undefined && !Token.isUnresolved(each)) && accounts[0] !== accounts[1];
}

function describedPrincipal({ grantPrincipal }: IGrantable): string {
  const { principalAccount } = grantPrincipal;
  return principalAccount === undefined || Token.isUnresolved(principalAccount)
    ? 'this principal'
    : `a principal of account ${principalAccount}`;
}

const openRoute = {
  id: 'AwsSolutions-APIG4',
  reason: 'It says whether the service works and nothing else, for load balancers and uptime monitors.',
} as const;

function apiFunction(scope: Construct, { settings, table, bus, reservedConcurrency }: Props): NodeFunction {
  const handler = new NodeFunction(scope, 'Api', {
    ...settings,
    name: 'api',
    description: 'Registers targets and answers what their status is',
    memorySize,
    timeout,
    reservedConcurrency,
  });
  handler.allow(allow('Table', tableActions.api, [table.tableArn]), publishOn(bus), ...useKey(settings.encryptionKey));
  return handler;
}

function defaultStage(
  scope: Construct,
  httpApi: HttpApi,
  { logRetention, encryptionKey }: FunctionSettings,
): HttpStage {
  const logGroup = new LogGroup(scope, 'AccessLogs', {
    // Each name elsewhere takes some of the 5,120 characters of the account's policy on who delivers logs.
    logGroupName: `/aws/vendedlogs/probelet-${deploymentSuffix(scope)}/api`,
    retention: logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(encryptionKey && { encryptionKey }),
  });
  return new HttpStage(scope, 'Stage', {
    httpApi,
    stageName: '$default',
    autoDeploy: true,
    throttle,
    accessLogSettings: { destination: new LogGroupLogDestination(logGroup), format: accessLogFormat },
  });
}

/** Caller, route and outcome. Never a header or a body. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    time: '$context.requestTime',
    ip: '$context.identity.sourceIp',
    caller: '$context.identity.userArn',
    route: '$context.routeKey',
    path: '$context.path',
    status: '$context.status',
    latencyMs: '$context.responseLatency',
    error: '$context.integrationErrorMessage',
  }),
);
