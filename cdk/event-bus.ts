/** The bus of changes: who may speak on it in the product's name, and what is said there. */
import { Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { CfnRegistry, CfnSchema } from 'aws-cdk-lib/aws-eventschemas';
import { AnyPrincipal, Effect, type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { z } from 'zod';
import { type DetailType, eventSchemas, eventSource, schemaVersion } from '../shared/bus/events.ts';
import { busDeadLetters } from './dead-letters.ts';

export type Publishers = {
  /** The only one that tells of results. */
  readonly prober: IRole;
  readonly others: readonly IRole[];
};

const resultChanged: DetailType = 'Probe Result Changed';

export class TargetBus extends Construct {
  readonly bus: EventBus;
  /** What could not be encrypted or decrypted; without a customer key nothing of the kind happens. */
  readonly deadLetters: Queue | undefined;

  constructor(scope: Construct, id: string, { encryptionKey }: { readonly encryptionKey?: IKey | undefined }) {
    super(scope, id);
    this.deadLetters = encryptionKey && busDeadLetters(this);
    this.bus = new EventBus(this, 'Resource', {
      description: 'Changes of probed targets',
      ...(encryptionKey && { kmsKey: encryptionKey }),
      ...(this.deadLetters && { deadLetterQueue: this.deadLetters }),
    });
  }

  /** Whatever their own policies say, others cannot put events under the product's name. */
  guard({ prober, others }: Publishers): void {
    const roles = [prober, ...others].map(({ roleArn }) => roleArn);
    this.#refuse('OnlyProbeletSpeaksAsProbelet', roles, { 'events:source': eventSource });
    this.#refuse('OnlyTheProberTellsResults', [prober.roleArn], { 'events:detail-type': resultChanged });
  }

  #refuse(sid: string, exceptRoles: readonly string[], events: { readonly [key: string]: string }): void {
    const statement = new PolicyStatement({
      sid,
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['events:PutEvents'],
      resources: [this.bus.eventBusArn],
      conditions: { StringEquals: events, ArnNotEquals: { 'aws:PrincipalArn': exceptRoles } },
    });
    this.bus.addToResourcePolicy(statement);
  }

  /** What subscribers can generate their types from. A registry has no events of its own and costs nothing. */
  describeEvents(): void {
    const registry = new CfnRegistry(this, 'Schemas', { description: 'Events of probelet' });
    for (const detailType of Object.keys(eventSchemas) as DetailType[])
      new CfnSchema(this, `Schema ${detailType}`.replaceAll(' ', ''), {
        registryName: registry.attrRegistryName,
        schemaName: `${eventSource}@${detailType.replaceAll(' ', '')}`,
        type: 'JSONSchemaDraft4',
        description: `${detailType}, schemaVersion ${schemaVersion}`,
        content: Stack.of(this).toJsonString(envelopeSchema(detailType)),
      });
  }
}

/** As a rule's target gets it. As input: a consumer has to bear fields that it does not know. */
function envelopeSchema(detailType: DetailType): object {
  const { $schema: _, ...detail } = z.toJSONSchema(eventSchemas[detailType], { target: 'draft-4', io: 'input' });
  const text = { type: 'string' };
  return {
    $schema: 'http://json-schema.org/draft-04/schema#',
    title: detailType,
    'x-amazon-events-source': eventSource,
    'x-amazon-events-detail-type': detailType,
    type: 'object',
    required: ['version', 'id', 'source', 'detail-type', 'account', 'time', 'region', 'resources', 'detail'],
    properties: {
      version: text,
      id: text,
      source: { enum: [eventSource] },
      'detail-type': { enum: [detailType] },
      account: text,
      time: { type: 'string', format: 'date-time' },
      region: text,
      resources: { type: 'array', items: text },
      detail,
    },
  };
}
