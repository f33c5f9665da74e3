/**
 * The prober as an ECS service on Fargate Spot. A task that Spot takes back gets SIGTERM two minutes before, and hands
 * its shard over within seconds.
 */
import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { type IVpc, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import {
  Cluster,
  type ContainerDefinition,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { proberImage } from '#function-code';
import { taskSize } from '../shared/cost/fleet.ts';
import type { FunctionNetwork, FunctionSettings } from './node-function.ts';

/** ECS's maximum. A task needs seconds; the rest is for a store that does not answer. */
const stopTimeout = Duration.seconds(120);
/** Sizes that ECS allows, by the price list of Fargate. */
const [cpuUnits, memoryLimitMiB] = [taskSize.vcpus * 1_024, taskSize.gb * 1_024];

type Props = {
  readonly settings: FunctionSettings;
  /** How many tasks. */
  readonly count: number;
  /** Defaults to a VPC with public subnets only, whose tasks reach what Lambda's network reaches. */
  readonly network?: FunctionNetwork | undefined;
};

export class ProberTasks extends Construct {
  readonly service: FargateService;
  readonly role: Role;
  readonly container: ContainerDefinition;
  readonly count: number;
  /** Changes with the code. */
  readonly imageHash: string;

  constructor(scope: Construct, id: string, { settings, count, network }: Props) {
    super(scope, id);
    this.count = count;
    this.role = new Role(this, 'Role', {
      assumedBy: tasksOf(Stack.of(this).account),
      description: 'Holds shards as tasks of ECS: probes their targets and commits what changes',
    });
    const executionRole = new Role(this, 'ExecutionRole', {
      assumedBy: tasksOf(Stack.of(this).account),
      description: 'Lets ECS pull the image and write the log of the tasks',
    });
    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: cpuUnits,
      memoryLimitMiB,
      taskRole: this.role,
      executionRole,
      runtimePlatform: {
        cpuArchitecture: CpuArchitecture.ARM64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
    });
    const image = proberImage(this);
    this.imageHash = image.assetHash;
    this.container = task.addContainer('Prober', {
      image: ContainerImage.fromDockerImageAsset(image),
      environment: { ...settings.environment, AWS_REGION: Stack.of(this).region },
      logging: LogDrivers.awsLogs({ streamPrefix: 'task', logGroup: this.#logs(settings) }),
      readonlyRootFilesystem: true,
      stopTimeout,
    });
    Validations.of(task).acknowledge(variables);
    Validations.of(executionRole).acknowledge(wholeRegistry);
    this.service = this.#service(task, network);
  }

  #logs({ logRetention, encryptionKey }: FunctionSettings): LogGroup {
    return new LogGroup(this, 'Logs', {
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
      ...(encryptionKey && { encryptionKey }),
    });
  }

  /** A deployment starts the new tasks beside the old ones, which hand over when they are stopped. */
  #service(taskDefinition: FargateTaskDefinition, network: FunctionNetwork | undefined): FargateService {
    const { vpc, vpcSubnets, securityGroups } = network ?? publicNetwork(this);
    const cluster = new Cluster(this, 'Cluster', {
      vpc,
      enableFargateCapacityProviders: true,
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    Validations.of(cluster).acknowledge({
      id: 'AwsSolutions-ECS4',
      reason: 'Container Insights would cost more than the tasks; they write what they count into their log.',
    });
    const service = new FargateService(this, 'Service', {
      // Their types differ by optional properties that may be undefined.
      cluster: cluster as ICluster,
      taskDefinition,
      desiredCount: this.count,
      capacityProviderStrategies: [{ capacityProvider: 'FARGATE_SPOT', weight: 1 }],
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      assignPublicIp: network === undefined,
      ...(vpcSubnets && { vpcSubnets }),
      ...(securityGroups && { securityGroups: [...securityGroups] }),
    });
    // The cluster's capacity providers, and the route by which the image is pulled.
    service.node.addDependency(cluster, ...(network ? [] : [vpc]));
    return service;
  }
}

/** ECS assumes the role for tasks of this account only. Source: "Amazon ECS task IAM role", confused deputy. */
const tasksOf = (account: string): ServicePrincipal =>
  new ServicePrincipal('ecs-tasks.amazonaws.com', { conditions: { StringEquals: { 'aws:SourceAccount': account } } });

/** Without a NAT, which would cost more than the tasks: each task has an address, and nothing may connect to it. */
function publicNetwork(scope: Construct): FunctionNetwork {
  const vpc = new Vpc(scope, 'Vpc', {
    natGateways: 0,
    maxAzs: 3,
    subnetConfiguration: [{ name: 'Public', subnetType: SubnetType.PUBLIC }],
    // Saves a function. No part of the deployment uses the default group.
    restrictDefaultSecurityGroup: false,
  });
  Validations.of(vpc).acknowledge({
    id: 'AwsSolutions-VPC7',
    reason: 'The network has the tasks and nothing else; a flow log would have a line for each probe.',
  });
  return { vpc: vpc as IVpc, vpcSubnets: { subnetType: SubnetType.PUBLIC } };
}

const variables = {
  id: 'AwsSolutions-ECS2',
  reason: 'Variables name the table, the queue and what may be dialed; secrets are read at run time.',
} as const;

const wholeRegistry = {
  id: 'AwsSolutions-IAM5[Resource::*]',
  reason: 'ECR knows no narrower resource for ecr:GetAuthorizationToken, with which ECS pulls the image.',
} as const;
