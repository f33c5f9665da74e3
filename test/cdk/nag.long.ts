/** AWS's own list of good habits for a deployment: nothing is found that is not acknowledged here with its reason. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Validations } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { AwsSolutionsChecks } from 'cdk-nag';
import { everything, onInstances, onTasks, someRegion } from '../support/deployments.ts';
import { checkTemplates, constructed, type Synthesized } from '../support/synthesized.ts';

checkTemplates(true);

type Finding = { readonly ruleName: string };

/** Names of the rules that the pack finds broken. */
function findings({ app }: Synthesized): readonly string[] {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const { exitCode } = process;
  try {
    app.synth();
  } catch {
    // It fails when it has found something; the report says what.
  } finally {
    process.exitCode = exitCode;
  }
  const report = JSON.parse(readFileSync(join(app.outdir, 'validation-report.json'), 'utf8'));
  return report.pluginReports.flatMap(({ violations }: { readonly violations: readonly Finding[] }) =>
    violations.map(({ ruleName }) => ruleName),
  );
}

/** Path in the construct and rule of each acknowledgement; its reason has to be there. */
function acknowledged({ probelet }: Synthesized): readonly string[] {
  const key = Validations.ACKNOWLEDGED_RULES_METADATA_KEY;
  return probelet.node
    .findAll()
    .flatMap(({ node }) =>
      node.metadata
        .filter(({ type }) => type === key)
        .flatMap(({ data }) => Object.entries(data).map(([id, reason]) => excused(node.path, id, reason))),
    );
}

function excused(path: string, id: string, reason: unknown): string {
  assert.match(String(reason), /\w+ \w+ \w+/, `${id} of ${path} is explained`);
  return `${path.replace('Probelet/Probelet/', '')}: ${id.replace('Annotation::', '')}`;
}

describe('cdk-nag’s AwsSolutions', () => {
  test('finds nothing in a deployment', () => assert.deepEqual(findings(constructed()), []));

  test('finds nothing in one with a key, a topic, a VPC, secrets and runners of its own', () => {
    assert.deepEqual(findings(constructed(everything, someRegion)), []);
    assert.deepEqual(findings(constructed(onInstances)), []);
  });

  test('finds nothing in one with tasks, in a network of their own and in one that is given', () => {
    assert.deepEqual(findings(constructed(onTasks)), []);
    assert.deepEqual(findings(constructed((stack) => ({ ...onTasks, ...everything(stack) }), someRegion)), []);
  });

  test('looks', () => {
    const made = constructed();
    new Queue(made.stack, 'Careless');
    assert.deepEqual(findings(made), ['AwsSolutions-SQS3', 'AwsSolutions-SQS4']);
  });

  test('knows these exceptions and no others', () => {
    const always = [
      'Shards/Resource: AwsSolutions-SQS3',
      'ShardSchedule/DeadLetters: AwsSolutions-SQS3',
      'Api/Resource/GET--healthz: AwsSolutions-APIG4',
    ];
    const ofTasks = [
      'ProberFleet/Tasks/Cluster: AwsSolutions-ECS4',
      'ProberFleet/Tasks/ExecutionRole: AwsSolutions-IAM5[Resource::*]',
      'ProberFleet/Tasks/Task: AwsSolutions-ECS2',
      'ProberFleet/Tasks/Vpc: AwsSolutions-VPC7',
    ];
    assert.deepEqual(acknowledged(constructed()), always);
    assert.deepEqual(acknowledged(constructed(onTasks)).toSorted(), [...always, ...ofTasks].toSorted());
    assert.deepEqual(
      acknowledged(constructed(everything, someRegion)).toSorted(),
      [
        ...always,
        'Bus/DeadLetters: AwsSolutions-SQS3',
        'ProberFleet/Prober/Role: AwsSolutions-IAM5[Resource::*]',
        'ProberFleet/ExecPolicy: AwsSolutions-IAM5[Resource::*]',
        'ProberFleet/ExecPolicy: AwsSolutions-IAM5[Resource::arn:aws:ec2:eu-central-1:<AWS::AccountId>:instance/*]',
        'ProberFleet/ExecPolicy: AwsSolutions-IAM5[Resource::arn:aws:ssm:eu-central-1:<AWS::AccountId>:managed-instance/*]',
        'ShardSchedule/Schedule/Role: AwsSolutions-IAM5[Resource::*]',
        'StatusSync/StatusSync/Role: AwsSolutions-IAM5[Resource::*]',
        'Api/Api/Role: AwsSolutions-IAM5[Resource::*]',
      ].toSorted(),
    );
  });
});
