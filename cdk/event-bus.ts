/** The bus, with a policy on who may publish probelet's events and a registry of their schemas. */
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
import { deploymentSuffix } from './physical-name.ts';

export type Publishers = {
  /** Only the prober may publish results. */
  readonly probers: readonly IRole[];
  readonly others: readonly IRole[];
};

const resultChanged: DetailType = 'Probe Result Changed';

export class TargetBus extends Construct {
  readonly bus: EventBus;
  /**
   * Receives events that could not be encrypted or decrypted. Undefined without a customer key, since neither can fail
   * then.
   */
  readonly deadLetters: Queue | undefined;

  constructor(scope: Construct, id: string, { encryptionKey }: { readonly encryptionKey?: IKey | undefined }) {
    super(scope, id);
    this.deadLetters = encryptionKey && busDeadLetters(this);
    this.bus = new EventBus(this, 'Resource', {
      eventBusName: `probelet-${deploymentSuffix(this)}`,
      description: 'Changes of probed targets',
      ...(encryptionKey && { kmsKey: encryptionKey }),
      ...(this.deadLetters && { deadLetterQueue: this.deadLetters }),
    });
  }

  /** Keeps other principals from publishing under probelet's source, whatever their policies allow. */
  guard({ probers, others }: Publishers): void {
    const roles = [...probers, ...others].map(({ roleArn }) => roleArn);
    this.#refuse('OnlyProbeletSpeaksAsProbelet', roles, { 'events:source': eventSource });
    this.#refuse(
      'OnlyTheProberTellsResults',
      probers.map(({ roleArn }) => roleArn),
      { 'events:detail-type': resultChanged },
    );
  }

  #refuse(sid: string, exceptRoles: readonly string[], events: { readonly [key: string]: string }): void {
    const statement = new PolicyStatement({
      // The account has one name space for the statements of all its buses.
      sid: `${sid}-${deploymentSuffix(this)}`,
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['events:PutEvents'],
      resources: [this.bus.eventBusArn],
      // A request has many entries, so these keys have many values: one of them is enough for a refusal.
      conditions: { 'ForAnyValue:StringEquals': events, ArnNotEquals: { 'aws:PrincipalArn': exceptRoles } },
    });
    this.bus.addToResourcePolicy(statement);
  }

  /** Publishes schemas from which subscribers can generate types. A registry costs nothing. */
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

/** The event as a rule's target receives it. Generated for input, because a consumer must accept unknown fields. */
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
