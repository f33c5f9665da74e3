/**
 * Alerts of a deployment: rules that send an SNS message when a problem begins and when it ends, without code that
 * runs. The message is a custom notification of Amazon Q Developer in chat applications, which shows it in a chat
 * channel. Other subscribers of the topic get the same JSON.
 */

import { type EventBus, EventField, type EventPattern, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type DetailType, eventSource } from '../shared/bus/events.ts';

/**
 * `NotReady`: the condition Ready turns False. `RestartRequested`: a container should be restarted. `ProberDegraded`:
 * probelet doubts itself.
 */
export type AlertCause = 'NotReady' | 'RestartRequested' | 'ProberDegraded';

export type AlertProps = {
  readonly topic: ITopic;
  /** The targets that it is for; all must match. Defaults to every target. */
  readonly match?: { readonly namespaces?: readonly string[]; readonly names?: readonly string[] };
  /** Defaults to all three. */
  readonly causes?: readonly AlertCause[];
  /** Whether the end of a problem is sent, too. Defaults to true. */
  readonly sendResolved?: boolean;
  /** Gets what SNS has not accepted for a day. Otherwise that is dropped. */
  readonly deadLetterQueue?: IQueue;
};

export const alertCauses: readonly AlertCause[] = ['NotReady', 'RestartRequested', 'ProberDegraded'];

export class Alert extends Construct {
  constructor(scope: Construct, id: string, { bus, ...props }: AlertProps & { readonly bus: EventBus }) {
    super(scope, id);
    requireValidAlert(props);
    const { topic, match = {}, causes = alertCauses, sendResolved = true, deadLetterQueue } = props;
    for (const cause of alertCauses.filter((each) => causes.includes(each)))
      for (const phase of sendResolved ? phases : (['firing'] as const))
        new Rule(this, `${cause}${phase === 'resolved' ? 'Resolved' : ''}`, {
          eventBus: bus,
          eventPattern: patternOf(cause, phase, match),
          targets: [
            new SnsTopic(topic, {
              message: RuleTargetInput.fromObject(messageOf(cause, phase, id)),
              ...(deadLetterQueue && { deadLetterQueue }),
            }),
          ],
        });
  }
}

const phases = ['firing', 'resolved'] as const;
type Phase = (typeof phases)[number];

/** The event that begins or ends a problem. */
type Notice = {
  readonly detailType: DetailType;
  /** The pattern of the event's detail, in EventBridge's language. */
  readonly pattern?: { readonly [field: string]: unknown };
  readonly description: string;
};

type Problem = { readonly [phase in Phase]: Notice } & {
  readonly title: string;
  /** Common to the beginning and the end, so that both are in one thread. */
  readonly threadId: string;
};

// Only values without quotation marks: EventBridge inserts them into JSON text.
const namespace = EventField.fromPath('$.detail.target.namespace');
const name = EventField.fromPath('$.detail.target.name');
const uid = EventField.fromPath('$.detail.target.uid');
const container = EventField.fromPath('$.detail.container');
const message = EventField.fromPath('$.detail.message');
const range = EventField.fromPath('$.detail.hashRange');
const subject = `${namespace}/${name}`;

/** As in the pattern of one condition: EventBridge wants all fields in the same element of the array. */
const readyWas = (status: string) => ({ conditions: { type: ['Ready'], status: [{ 'anything-but': status }] } });

const problems: { readonly [cause in AlertCause]: Problem } = {
  NotReady: {
    title: `${subject} not ready`,
    threadId: uid,
    firing: {
      detailType: 'Target Status Changed',
      pattern: {
        oldStatus: readyWas('False'),
        // A Pod that has completed is not ready, which is no problem.
        newStatus: { conditions: { type: ['Ready'], status: ['False'], reason: [{ 'anything-but': 'PodCompleted' }] } },
      },
      description: `The condition Ready of ${subject} is False.`,
    },
    resolved: {
      detailType: 'Target Status Changed',
      pattern: {
        // Before the first verdict nothing was a problem.
        oldStatus: { conditions: { ...readyWas('True').conditions, reason: [{ 'anything-but': 'NotYetProbed' }] } },
        newStatus: { conditions: { type: ['Ready'], status: ['True'] } },
      },
      description: `The condition Ready of ${subject} is True.`,
    },
  },
  RestartRequested: {
    title: `${subject} to be restarted`,
    threadId: `${uid}/${container}`,
    // Further attempts are the same incident.
    firing: { detailType: 'Container Restart Requested', pattern: { attempt: [1] }, description: message },
    resolved: { detailType: 'Container Recovered', description: message },
  },
  ProberDegraded: {
    title: `prober degraded for ${range}`,
    threadId: `prober/${range}`,
    firing: {
      detailType: 'Prober Degraded',
      description: `Results of the targets in ${range} are Unknown: ${EventField.fromPath('$.detail.reason')}.`,
    },
    resolved: {
      detailType: 'Prober Recovered',
      description: `The results of the targets in ${range} count again.`,
    },
  },
};

type Match = NonNullable<AlertProps['match']>;

function patternOf(cause: AlertCause, phase: Phase, { namespaces, names }: Match): EventPattern {
  const { detailType, pattern } = problems[cause][phase];
  // An event about the prober concerns no single target.
  const ofTarget = cause !== 'ProberDegraded' && {
    ...(namespaces && { namespace: [...namespaces] }),
    ...(names && { name: [...names] }),
  };
  const target = ofTarget && Object.keys(ofTarget).length > 0 && { target: ofTarget };
  const detail = { ...pattern, ...target };
  const all: EventPattern = { source: [eventSource], detailType: [detailType] };
  return Object.keys(detail).length > 0 ? { ...all, detail } : all;
}

/** The schema of Amazon Q Developer's custom notifications, version 1.0. */
function messageOf(cause: AlertCause, phase: Phase, alert: string) {
  const { title: problem, threadId, [phase]: notice } = problems[cause];
  const title = `${phase === 'resolved' ? 'Resolved: ' : ''}${problem} (${alert})`;
  return {
    version: '1.0',
    source: 'custom',
    id: EventField.fromPath('$.detail.id'),
    content: {
      textType: 'client-markdown',
      title,
      description: notice.description,
      keywords: [eventSource, cause],
    },
    metadata: {
      threadId,
      summary: title,
      eventType: `${eventSource}.${cause}.${phase}`,
      additionalContext: {
        time: EventField.time,
        account: EventField.account,
        region: EventField.fromPath('$.region'),
      },
    },
  };
}

/** @throws RangeError that names the prop. Props may come from JavaScript, too. */
function requireValidAlert({ match = {}, causes = alertCauses, sendResolved = true }: Partial<AlertProps>): void {
  const isList = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && each !== '');
  for (const field of ['namespaces', 'names'] as const)
    if (match[field] !== undefined && !isList(match[field]))
      throw new RangeError(`match.${field}: is ${JSON.stringify(match[field])}; allowed: a list of names`);
  if (!isList(causes) || !causes.every((each) => alertCauses.includes(each)))
    throw new RangeError(`causes: is ${JSON.stringify(causes)}; allowed: a list of ${alertCauses.join(', ')}`);
  if (typeof sendResolved !== 'boolean')
    throw new RangeError(`sendResolved: is ${JSON.stringify(sendResolved)}; allowed: true or false`);
}
