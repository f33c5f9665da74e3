/**
 * Synthesizes deployments for tests, under the feature flags of `cdk.json`. Without bundling: the code is what
 * `test/cdk/synth.test.ts` makes.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Environment, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Probelet } from '../../cdk/probelet.ts';
import type { ProbeletProps } from '../../cdk/props.ts';

const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

/**
 * Whether synthesis checks a template by CloudFormation's own rules. Loading them takes two seconds of CPU in each
 * process, so only the tests of whole templates do.
 */
export const checkTemplates = (isOn: boolean): void => {
  process.env.CDK_VALIDATION = String(isOn);
};

checkTemplates(false);

const output = mkdtempSync(join(tmpdir(), 'probelet-cdk-'));
process.once('exit', () => rmSync(output, { recursive: true, force: true }));

/** An app of `cdk.json` that leaves the code of its functions alone. */
export const quickApp = (): App =>
  new App({
    context: { ...context, 'aws:cdk:bundling-stacks': [] },
    outdir: mkdtempSync(join(output, 'app-')),
    analyticsReporting: false,
    treeMetadata: false,
  });

export type Synthesized = {
  readonly app: App;
  readonly stack: Stack;
  readonly probelet: Probelet;
};

export type Deployment = (stack: Stack) => ProbeletProps;

/** A stack with one probelet; what else it needs is made in the stack first. */
export function constructed(props: ProbeletProps | Deployment = {}, env?: Environment): Synthesized {
  const app = quickApp();
  const stack = new Stack(app, 'Probelet', env ? { env } : {});
  const probelet = new Probelet(stack, 'Probelet', typeof props === 'function' ? props(stack) : props);
  return { app, stack, probelet };
}

export const templateOf = ({ stack }: Pick<Synthesized, 'stack'>): TemplateJson =>
  Template.fromStack(stack).toJSON() as TemplateJson;

export const synthesized = (props: ProbeletProps | Deployment = {}, env?: Environment): TemplateJson =>
  templateOf(constructed(props, env));

/** In a VPC without a way out, which exists already. */
export const inSomeVpc = (stack: Stack) => ({ vpc: someVpc(stack), canaries: ['10.0.0.10:443'] });

const someVpc = (stack: Stack): IVpc =>
  Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['us-east-1a'],
    isolatedSubnetIds: ['subnet-0123456789abcdef0'],
    isolatedSubnetRouteTableIds: ['rtb-0123456789abcdef0'],
  });

/** What of a template the tests look at. */
export type TemplateJson = { readonly Resources: { readonly [id: string]: ResourceJson } };

export type ResourceJson = {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON of any shape, compared with literals.
  readonly Properties: any;
};

export type NamedResource = ResourceJson & { readonly id: string };

/** The resources of a type, in the template's order. */
export const resourcesOf = ({ Resources }: TemplateJson, type: string): readonly NamedResource[] =>
  Object.entries(Resources).flatMap(([id, resource]) => (resource.Type === type ? [{ ...resource, id }] : []));

/** The product's own functions: not the one of the CDK that asks the prober whether it starts. */
export const functionsOf = (template: TemplateJson): readonly NamedResource[] =>
  resourcesOf(template, 'AWS::Lambda::Function').filter(({ id }) => !id.startsWith('AWSCDKTrigger'));

/**
 * `{"Fn::GetAtt": ["ProbeletTable73D0C6AC", "Arn"]}` as `ProbeletTable.Arn`: readable, and without the hash of its
 * path.
 */
export function short(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [[intrinsic, of] = ['', undefined]] = Object.entries(value);
  switch (intrinsic) {
    case 'Ref':
      return `{${nameOf(String(of))}}`;
    case 'Fn::GetAtt':
      return `{${nameOf(String((of as string[])[0]))}.${(of as string[])[1]}}`;
    case 'Fn::Join':
      return (of as [string, unknown[]])[1].map(short).join((of as [string, unknown[]])[0]);
    default:
      return JSON.stringify(value);
  }
}

/** A logical id without its hash. */
export const nameOf = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');
