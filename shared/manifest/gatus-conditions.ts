/** What a condition of Gatus asks, and what a probe makes of it. */
import { timeoutSecondsMax } from '../core/limits.ts';
import { wholeSeconds } from './duration.ts';

export type Judged =
  /** `timeoutSeconds`: the probe asks it by its time-out. */
  | { readonly kind: 'maps'; readonly timeoutSeconds?: number }
  | { readonly kind: 'approximated'; readonly reason: string; readonly timeoutSeconds?: number }
  | { readonly kind: 'leftOut'; readonly reason: string }
  /** The probe would succeed only where the condition is not met. */
  | { readonly kind: 'opposes'; readonly reason: string };

export type ProbedBy = 'httpGet' | 'tcpSocket' | 'grpc';

const operators = ['==', '!=', '<=', '>=', '<', '>'] as const;
type Operator = (typeof operators)[number];

type Condition = { readonly left: string; readonly operator: Operator; readonly right: string };

export function judge(text: string, handler: ProbedBy): Judged {
  const condition = parsed(text);
  if (!condition) return leftOut('is no condition that is known');
  const { left, operator, right } = condition;
  switch (left) {
    case '[CONNECTED]':
      if (operator === '==' && right === 'true') return { kind: 'maps' };
      return { kind: 'opposes', reason: 'a probe succeeds only where it connects' };
    case '[STATUS]':
      return handler === 'httpGet' ? judgedStatus(condition) : leftOut('is for HTTP: a connection has no status');
    case '[RESPONSE_TIME]':
      return judgedTime(condition);
    case '[CERTIFICATE_EXPIRATION]':
      return leftOut('no probe looks at the certificate');
    case '[DOMAIN_EXPIRATION]':
      return leftOut('no probe looks at the registration of a domain');
    case '[IP]':
      return leftOut('no probe looks at the resolved address');
    case '[DNS_RCODE]':
      return leftOut('there is no handler for DNS');
    default:
      return judgedBody(condition, handler);
  }
}

const leftOut = (reason: string): Judged => ({ kind: 'leftOut', reason });

function parsed(text: string): Condition | undefined {
  const operator = operators.find((each) => text.includes(` ${each} `));
  if (operator === undefined) return undefined;
  const at = text.indexOf(` ${operator} `);
  return { left: text.slice(0, at).trim(), operator, right: text.slice(at + operator.length + 2).trim() };
}

/** kubelet's range for httpGet: 200 to 399. */
const succeeds = (status: number): boolean => status < 400;
/** Those that end a request. */
const statuses = Array.from({ length: 400 }, (_, index) => index + 200);

function judgedStatus(condition: Condition): Judged {
  const accepted = acceptedBy(condition);
  if (accepted === undefined) return { kind: 'approximated', reason: anyStatus };
  if (!accepted.some(succeeds))
    return { kind: 'opposes', reason: 'httpGet succeeds for a status from 200 to 399 only' };
  const isMet = statuses.filter(succeeds).every((status) => accepted.includes(status));
  return isMet ? { kind: 'maps' } : { kind: 'approximated', reason: anyStatus };
}

const anyStatus = 'every status from 200 to 399 counts as success';

/** Undefined: the condition uses another function than `any`. */
function acceptedBy({ operator, right }: Condition): readonly number[] | undefined {
  const values = valuesOf(right);
  if (values === undefined || values.some((value) => !/^\d{1,3}$/.test(value))) return undefined;
  return statuses.filter((status) => compares(status, operator, values.map(Number)));
}

/** Whether the conditions together are met by a status of 400 or more, for which a probe fails. */
export function acceptsErrors(conditions: readonly string[]): boolean {
  const accepted = conditions
    .map(parsed)
    .filter((condition) => condition?.left === '[STATUS]')
    .map((condition) => (condition && acceptedBy(condition)) ?? []);
  return statuses.some((status) => !succeeds(status) && accepted.every((each) => each.includes(status)));
}

/** Of `any(a, b)`, or the one. Undefined: another function. */
function valuesOf(right: string): readonly string[] | undefined {
  if (!right.endsWith(')')) return [right];
  return right.startsWith('any(')
    ? right
        .slice('any('.length, -1)
        .split(',')
        .map((each) => each.trim())
    : undefined;
}

function compares(status: number, operator: Operator, values: readonly number[]): boolean {
  const [value = 0] = values;
  switch (operator) {
    case '==':
      return values.includes(status);
    case '!=':
      return !values.includes(status);
    case '<':
      return status < value;
    case '>':
      return status > value;
    case '<=':
      return status <= value;
    case '>=':
      return status >= value;
  }
}

function judgedTime({ operator, right }: Condition): Judged {
  if (!operator.startsWith('<') || !/^\d{1,9}$/.test(right)) return leftOut('only an upper bound can be a time-out');
  const seconds = Number(right) / 1000;
  const timeoutSeconds = wholeSeconds(seconds, timeoutSecondsMax);
  if (timeoutSeconds === seconds) return { kind: 'maps', timeoutSeconds };
  return { kind: 'approximated', reason: `a time-out has whole seconds, here ${timeoutSeconds}`, timeoutSeconds };
}

function judgedBody({ left, operator, right }: Condition, handler: ProbedBy): Judged {
  if (!left.includes('[BODY]')) return leftOut('is no condition that is known');
  const isServing = operator === '==' && right === 'SERVING';
  return handler === 'grpc' && isServing ? { kind: 'maps' } : leftOut('no probe looks at the body');
}
