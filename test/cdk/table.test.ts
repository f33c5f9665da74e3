import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RemovalPolicy } from 'aws-cdk-lib';
import { tableDefinition } from '../support/dynamodb-table.ts';
import { functionsOf, resourcesOf, synthesized } from '../support/synthesized.ts';

const tableOf = (template: ReturnType<typeof synthesized>) => {
  const [table, ...others] = resourcesOf(template, 'AWS::DynamoDB::GlobalTable');
  assert.ok(table && others.length === 0, 'one table');
  return table;
};

describe('the table', () => {
  const { DeletionPolicy, Properties } = tableOf(synthesized());

  test('has the shape that the store expects', () => {
    const { KeySchema, AttributeDefinitions, BillingMode } = tableDefinition;
    assert.deepEqual(Properties.KeySchema, KeySchema);
    assert.deepEqual(Properties.AttributeDefinitions, AttributeDefinitions);
    assert.equal(Properties.BillingMode, BillingMode);
    assert.deepEqual(Properties.TimeToLiveSpecification, { AttributeName: 'expiresAt', Enabled: true });
  });

  test('outlives its stack, cannot be deleted by mistake, and can be taken back to any second', () => {
    const [replica] = Properties.Replicas;
    assert.equal(DeletionPolicy, 'Retain');
    assert.equal(replica.DeletionProtectionEnabled, true);
    assert.deepEqual(replica.PointInTimeRecoverySpecification, { PointInTimeRecoveryEnabled: true });
  });

  test('is prepared for a fleet that fails as one, where a new table is not', () => {
    const warmthOf = (targets: number) =>
      tableOf(synthesized({ fleet: [{ targets, periodSeconds: 10 }], memorySize: 10_240 })).Properties.WarmThroughput;
    assert.equal(warmthOf(20_000), undefined);
    assert.deepEqual(warmthOf(100_000), { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 20_000 });
  });

  test('is one that exists already, where its name is given: every function has it, and no other', () => {
    const tableName = 'probelet-restored';
    const template = synthesized({ tableName });
    assert.deepEqual(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'), []);
    const names = functionsOf(template).map(({ Properties }) => Properties.Environment.Variables.PROBELET_TABLE);
    assert.deepEqual(names, Array(4).fill(tableName));
    const granted = resourcesOf(template, 'AWS::IAM::Policy').flatMap(({ Properties }) =>
      Properties.PolicyDocument.Statement.filter(({ Sid }: { readonly Sid?: string }) => Sid === 'Table'),
    );
    assert.equal(granted.length, 4);
    for (const { Resource } of granted) assert.match(JSON.stringify(Resource), /:table\/probelet-restored"/);
  });

  test('goes with its stack when it is configured to', () => {
    const table = tableOf(synthesized({ removalPolicy: RemovalPolicy.DESTROY }));
    assert.equal(table.DeletionPolicy, 'Delete');
    assert.equal(table.Properties.Replicas[0].DeletionProtectionEnabled, false);
  });
});
