import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Probelet, type ProbeletProps } from '../../cdk/probelet.ts';
import { tableDefinition } from '../../shared/store/dynamodb-table.ts';

function synthesized(props: ProbeletProps = {}): Template {
  const stack = new Stack();
  new Probelet(stack, 'Probelet', props);
  return Template.fromStack(stack);
}

test('the table has the shape that the store expects', () => {
  const [table] = Object.values(synthesized().findResources('AWS::DynamoDB::GlobalTable'));
  const { KeySchema, AttributeDefinitions, BillingMode } = tableDefinition;
  assert.deepEqual(table?.Properties.KeySchema, KeySchema);
  assert.deepEqual(table?.Properties.AttributeDefinitions, AttributeDefinitions);
  assert.equal(table?.Properties.BillingMode, BillingMode);
  assert.deepEqual(table?.Properties.TimeToLiveSpecification, { AttributeName: 'expiresAt', Enabled: true });
});

test('the table outlives its stack and cannot be deleted by mistake', () => {
  synthesized().hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'Retain',
    Properties: {
      Replicas: [
        { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
      ],
    },
  });
});

test('a table that may go is not protected', () => {
  synthesized({ removalPolicy: RemovalPolicy.DESTROY }).hasResource('AWS::DynamoDB::GlobalTable', {
    DeletionPolicy: 'Delete',
    Properties: { Replicas: [{ DeletionProtectionEnabled: false }] },
  });
});

test('changes go to a bus of their own', () => {
  synthesized().resourceCountIs('AWS::Events::EventBus', 1);
});
