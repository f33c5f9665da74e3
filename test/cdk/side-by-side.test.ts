/** Several deployments in one account and region: nothing in one of them has a name that another one has, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stack, type StackProps } from 'aws-cdk-lib';
import { Probelet } from '../../cdk/probelet.ts';
import { ProbeletStack } from '../../cdk/probelet-stack.ts';
import { quickApp, type TemplateJson, templateOf } from '../support/synthesized.ts';

/** Named within the API and the registry of their own deployment. */
const scoped: ReadonlySet<string> = new Set(['AWS::ApiGatewayV2::Stage', 'AWS::EventSchemas::Schema']);
/** Names that AWS does not require to be unique, and names of what belongs to another resource. */
const shared = /^(AWS::ApiGatewayV2::Api Name|AWS::IAM::Policy PolicyName)$/;
/** Properties that name the resource itself. */
const naming = /^(Name|StatementId|Id|.*Name)$/;
/** Names of others: a metric, an attribute, a namespace. */
const foreign = /^(MetricName|AttributeName|ServiceToken|RoleName|FunctionName\.)$/;

/** The physical names of a template, each with the type that has it. What CloudFormation names itself has none. */
function namesOf({ Resources }: TemplateJson): readonly string[] {
  return Object.values(Resources).flatMap(({ Type, Properties }) => {
    if (scoped.has(Type)) return [];
    return Object.entries(Properties ?? {}).flatMap(([property, value]) => {
      const kind = `${Type} ${property}`;
      if (!naming.test(property) || foreign.test(property) || shared.test(kind) || typeof value !== 'string') return [];
      return [`${kind} ${value}`];
    });
  });
}

const namesOfStack = (stack: Stack) => namesOf(templateOf({ stack }));

function assertDistinct(names: readonly string[], wanted: number): void {
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  assert.deepEqual(twice, []);
  assert.ok(names.length >= wanted, `only ${names.length} names were looked at`);
}

const busAndStatements = 3;

test('two stacks of one app', () => {
  const app = quickApp();
  const stacks = ['one', 'other'].map((id) => new ProbeletStack(app, id));
  assertDistinct(stacks.flatMap(namesOfStack), 2 * busAndStatements);
});

test('two constructs in one stack', () => {
  const stack = new Stack(quickApp(), 'both');
  for (const id of ['one', 'other']) new Probelet(stack, id);
  assertDistinct(namesOfStack(stack), 2 * busAndStatements);
});

test('one app, deployed under two names of its stack', () => {
  const named = (stackProps: StackProps) => namesOfStack(new ProbeletStack(quickApp(), 'probelet', {}, stackProps));
  const names = [...named({ stackName: 'probelet-blue' }), ...named({ stackName: 'probelet-green' })];
  assertDistinct(names, 2 * busAndStatements);
});
