/** Faults of a network and a service: each call has the same small chance of one of them. */
import type { Random } from '../../../shared/lib/random.ts';
import * as answers from '../../support/dynamodb-answers.ts';
import type { Answer, Fault, ProxiedCall, Script } from '../../support/fault-proxy.ts';
import { sqsAnswers } from '../../support/sqs-answers.ts';

type Named = { readonly name: string; readonly faultOf: (call: ProxiedCall, random: Random) => Fault | undefined };

export type Weather = {
  /** Faults by name, so far. */
  readonly counts: Map<string, number>;
  /** For the calls of a worker to this service. */
  script(service: 'dynamodb' | 'sqs'): Script;
};

const always = (name: string, fault: Fault): Named => ({ name, faultOf: () => fault });
const answer = (given: Answer, applied = false): Fault => ({ kind: 'answer', answer: given, applied });

/** Shorter and longer than a call may take (1.5 s). */
const delaysMs = [200, 1_000, 2_500];
const delayed = (kind: 'delayRequest' | 'delayResponse', name: string): Named => ({
  name,
  faultOf: (_, random) => ({ kind, delayMs: delaysMs[Math.floor(random.next() * delaysMs.length)] ?? 0 }),
});

const onTheWay: readonly Named[] = [
  always('request dropped', { kind: 'dropRequest' }),
  always('response dropped after apply', { kind: 'dropResponse' }),
  delayed('delayRequest', 'delay, then apply'),
  delayed('delayResponse', 'apply, then delay'),
  always('502 of a gateway', answer(answers.badGateway)),
];

type Code = Exclude<answers.CancellationCode, 'None'>;

/** The failed condition is an entry's, never a fence's: no run survives a table that lies about its fence. */
const cancellation = (code: Code): Named => ({
  name: `cancelled: ${code}`,
  faultOf(call, random) {
    if (call.operation !== 'TransactWriteItems') return undefined;
    const { TransactItems } = JSON.parse(call.body) as { readonly TransactItems: readonly object[] };
    const places = TransactItems.flatMap((item, index) =>
      code === 'ConditionalCheckFailed' && !('Update' in item && JSON.stringify(item).includes('#PROBE#'))
        ? []
        : [index],
    );
    const at = places[Math.floor(random.next() * places.length)];
    if (at === undefined) return undefined;
    return answer(answers.cancelled(TransactItems.map((_, index) => (index === at ? code : 'None'))));
  },
});

const isWrite = ({ operation }: ProxiedCall): boolean => operation === 'UpdateItem' || operation === 'PutItem';

const ofDynamodb: readonly Named[] = [
  ...onTheWay,
  always('429', answer(answers.tooManyRequests)),
  always('500', answer(answers.internalServerError)),
  always('500 after apply', answer(answers.internalServerError, true)),
  always('503', answer(answers.serviceUnavailable)),
  always('ThrottlingException', answer(answers.throttled)),
  always('ProvisionedThroughputExceededException', answer(answers.throughputExceeded)),
  always('RequestLimitExceeded', answer(answers.requestLimitExceeded)),
  {
    name: 'TransactionConflictException',
    faultOf: (call) => (isWrite(call) ? answer(answers.transactionConflict) : undefined),
  },
  {
    name: 'TransactionInProgressException',
    faultOf: ({ operation }) =>
      operation === 'TransactWriteItems' ? answer(answers.transactionInProgress) : undefined,
  },
  ...(
    [
      'ConditionalCheckFailed',
      'ItemCollectionSizeLimitExceeded',
      'TransactionConflict',
      'ProvisionedThroughputExceeded',
      'ThrottlingError',
      'ValidationError',
    ] as const
  ).map(cancellation),
];

const ofSqs: readonly Named[] = [
  ...onTheWay,
  always('429', answer(sqsAnswers.tooManyRequests)),
  always('500', answer(sqsAnswers.internalError)),
  always('500 after apply', answer(sqsAnswers.internalError, true)),
  always('503', answer(sqsAnswers.unavailable)),
  always('RequestThrottled', answer(sqsAnswers.throttled)),
  always('OverLimit', answer(sqsAnswers.overLimit)),
];

/** Of all calls; transactions are few and have more faults of their own. */
const chance = 0.08;
const transactionChance = 0.3;

export function weatherOf(random: Random): Weather {
  const counts = new Map<string, number>();
  const faultsOf = { dynamodb: ofDynamodb, sqs: ofSqs };
  return {
    counts,
    script: (service) => (call) => {
      if (random.next() >= (call.operation === 'TransactWriteItems' ? transactionChance : chance))
        return { kind: 'pass' };
      const faults = faultsOf[service];
      const named = faults[Math.floor(random.next() * faults.length)];
      const fault = named?.faultOf(call, random);
      if (!named || !fault) return { kind: 'pass' };
      counts.set(`${service} ${named.name}`, (counts.get(`${service} ${named.name}`) ?? 0) + 1);
      return fault;
    },
  };
}
