/**
 * Judges the conditions of an endpoint of Gatus: do they ask what a probe asks?
 *
 * A condition such as `[STATUS] < 300` or `[BODY] == pat(*ok*)` may be written in many ways, so comparing texts finds
 * few of them. Instead each condition is evaluated for every answer that the endpoint may give: no answer, each status
 * from 200 to 599, each status of gRPC. A placeholder that no probe looks at, such as the body, makes the result
 * unknown. Then the results are compared with those of the probe. A condition that is met by every answer for which the
 * probe succeeds is kept exactly; one that is met by some of them, or depends on an unknown, is an approximation; one
 * that is met by none opposes the probe, and the endpoint is left out. The same comparison is made for all conditions
 * together. Conditions on the response time become the time-out: the bound is found by bisection.
 */
import { timeoutSecondsMax } from '../../core/spec/limits.ts';
import { wholeSeconds } from '../duration.ts';
import { type Condition, isMet, parsedCondition, placeholdersOf, type Values } from './conditions.ts';

export type Judgement =
  | {
      readonly kind: 'probed';
      /** Time-outs that conditions ask for. */
      readonly timeoutSeconds: readonly number[];
      /** `index`: of a condition; absent: all of them. */
      readonly approximated: readonly { readonly index?: number; readonly reason: string }[];
    }
  /** A probe would succeed where Gatus does not. */
  | { readonly kind: 'opposes'; readonly index?: number; readonly reason: string }
  /** Gatus does not start with it. */
  | { readonly kind: 'wrong'; readonly index: number };

/** What a condition says of each outcome; undefined: it depends on what is not known. */
type Says = readonly (boolean | undefined)[];

/** Remembers what the conditions of a file say, because the same ones are at many endpoints. */
export class ConditionJudge {
  readonly #said = new Map<string, Says>();

  judge(texts: readonly string[], asked: EndpointRequest): Judgement {
    const conditions = texts.map(parsedCondition);
    const wrong = conditions.indexOf(undefined);
    if (wrong >= 0) return { kind: 'wrong', index: wrong };
    const outcomes = outcomesOf(asked);
    const given = conditions.flatMap((condition) => condition ?? []);
    const judged = given.map((condition, index) =>
      isOfTime(condition)
        ? judgedTime(condition, index)
        : judgedCondition(condition, index, this.#says(texts[index] ?? '', condition, asked), outcomes, asked.by),
    );
    const opposed = judged.find(({ kind }) => kind === 'opposes');
    if (opposed) return opposed;
    const all = judged.flatMap((each) => (each.kind === 'probed' ? [each] : []));
    const met = outcomes.filter((_, at) => all.every(({ says }) => says?.[at] !== false));
    const together = judgedTogether(met, asked.by);
    if (together.kind === 'opposes') return together;
    return {
      kind: 'probed',
      timeoutSeconds: all.flatMap(({ timeoutSeconds }) => timeoutSeconds),
      approximated: [...all, together].flatMap(({ approximated }) => approximated),
    };
  }

  #says(text: string, condition: Condition, asked: EndpointRequest): Says {
    const key = JSON.stringify([text, asked]);
    const known = this.#said.get(key);
    if (known) return known;
    const says = outcomesOf(asked).map(({ values }) => isMet(condition, values));
    this.#said.set(key, says);
    return says;
  }
}

function judgedCondition(
  condition: Condition,
  index: number,
  says: Says,
  outcomes: readonly Outcome[],
  by: ProbedBy,
): OneJudgement {
  const ofSuccess = says.filter((_, at) => outcomes[at]?.isSuccess);
  const probed = { kind: 'probed', says, timeoutSeconds: [] } as const;
  if (says.every((each) => each === false)) return { kind: 'opposes', index, reason: 'is never met' };
  if (ofSuccess.every((each) => each === false)) return { kind: 'opposes', index, reason: succeedsOnly[by] };
  if (ofSuccess.every((each) => each === true)) return { ...probed, approximated: [] };
  if (ofSuccess.some((each) => each === true)) return { ...probed, approximated: [{ index, reason: anyStatus }] };
  const unknownOf = (name: string) => outcomes.some(({ isSuccess, values }) => isSuccess && values[name] === undefined);
  const missing = placeholdersOf(condition).find(unknownOf);
  if (missing === undefined) return { kind: 'opposes', index, reason: 'compares with what depends on the machine' };
  return { ...probed, approximated: [{ index, reason: `is not asked: ${reasons[missing] ?? ''}` }] };
}

type OneJudgement =
  | (Extract<Judgement, { readonly kind: 'probed' }> & { readonly says?: Says })
  | Extract<Judgement, { readonly kind: 'opposes' }>;

const succeedsOnly = {
  httpGet: 'httpGet succeeds for a status from 200 to 399 only',
  tcpSocket: 'a probe succeeds only where it connects, and knows no more of it',
  grpc: 'a probe succeeds only for SERVING',
} as const;

const anyStatus = 'every status from 200 to 399 counts as success';

const reasons: { readonly [placeholder: string]: string } = {
  '[BODY]': 'no probe looks at the body',
  '[CERTIFICATE_EXPIRATION]': 'no probe looks at the certificate',
  '[DOMAIN_EXPIRATION]': 'no probe looks at the registration of a domain',
  '[IP]': 'no probe looks at the resolved address',
  '[STATUS]': 'no probe logs in',
};

/** What the conditions together accept, of which each alone may be a part. */
function judgedTogether(
  met: readonly Outcome[],
  by: ProbedBy,
): Extract<OneJudgement, { readonly kind: 'probed' | 'opposes' }> {
  const isTypical = ({ isSuccess, values }: Outcome) => isSuccess && (by !== 'httpGet' || values['[STATUS]'] === '200');
  const has = (kind: Outcome['kind']) => met.some((outcome) => outcome.kind === kind);
  if (!has('answered'))
    return { kind: 'opposes', reason: 'has conditions that are met together by no answer for which a probe succeeds' };
  if (has('refused') && !met.some(isTypical))
    return { kind: 'opposes', reason: 'is met by answers for which a probe fails, and not by the usual success' };
  const reason = content(has('refused'), has('unanswered'), by);
  return { kind: 'probed', timeoutSeconds: [], approximated: reason === undefined ? [] : [{ reason }] };
}

function content(byRefused: boolean, byUnanswered: boolean, by: ProbedBy): string | undefined {
  const refused = by === 'grpc' ? 'a status other than SERVING' : 'some status of 400 or more';
  const what = [...(byRefused ? [refused] : []), ...(byUnanswered ? ['no answer at all'] : [])];
  return what.length === 0 ? undefined : `is content with ${what.join(' and with ')}, for which a probe fails`;
}

const isOfTime = (condition: Condition): boolean => placeholdersOf(condition).includes('[RESPONSE_TIME]');

/** An upper bound is a time-out. It is found by asking for times around every number in the condition. */
function judgedTime(condition: Condition, index: number): OneJudgement {
  const times = timesAround(condition);
  const says = times.map((time) => isMet(condition, { ...unknown, '[RESPONSE_TIME]': String(time) }));
  const firstNot = says.findIndex((each) => each !== true);
  const probed = { kind: 'probed' } as const;
  if (firstNot < 0) return { ...probed, timeoutSeconds: [], approximated: [] };
  if (firstNot === 0 || says.slice(firstNot).includes(true) || says.includes(undefined))
    return { kind: 'opposes', index, reason: 'only an upper bound can be a time-out' };
  const [last = 0, after = 0] = [times[firstNot - 1], times[firstNot]];
  const seconds = (last % 1_000 === 0 ? last : after) / 1_000;
  const timeoutSeconds = wholeSeconds(seconds, timeoutSecondsMax);
  const reason = `a time-out has whole seconds up to ${timeoutSecondsMax}, here ${timeoutSeconds}`;
  const approximated = timeoutSeconds === seconds ? [] : [{ index, reason }];
  return { ...probed, timeoutSeconds: [timeoutSeconds], approximated };
}

/** The longest response time that is tried, in milliseconds. */
const timeMax = 1e9;

function timesAround(condition: Condition): readonly number[] {
  const isBelow = (time: number) =>
    isMet({ ...condition, operator: '<' }, { ...unknown, '[RESPONSE_TIME]': String(time) });
  // Where the order of the two elements changes, which is at the bound.
  const first = isBelow(1);
  let [low, high] = [1, timeMax];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isBelow(middle) === first) low = middle;
    else high = middle;
  }
  const around = [low - 1, low, low + 1, high, high + 1, high + 2];
  const usual = [1, 2, 10, 100, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, timeMax];
  return [...new Set([...usual, ...around])].filter((time) => time >= 1).sort((a, b) => a - b);
}

export type ProbedBy = 'httpGet' | 'tcpSocket' | 'grpc';

/** What is asked of a connection: the schemes of Gatus that a connection stands for. */
export type Connection = 'tcp' | 'tls' | 'starttls' | 'ssh' | 'ws' | 'wss';

export type Outcome = {
  readonly kind: 'unanswered' | 'answered' | 'refused';
  readonly isSuccess: boolean;
  readonly values: Values;
};

/** The values of placeholders that no request asks for: nothing or zero in Gatus. */
const unasked: Values = {
  '[BODY]': '',
  '[CERTIFICATE_EXPIRATION]': '0',
  '[DNS_RCODE]': '',
  '[DOMAIN_EXPIRATION]': undefined,
  '[IP]': undefined,
  '[RESPONSE_TIME]': undefined,
  '[STATUS]': '0',
};

/** No placeholder is known. */
export const unknown: Values = Object.fromEntries(
  [...Object.keys(unasked), '[CONNECTED]'].map((name) => [name, undefined]),
);

const unanswered: Outcome = { kind: 'unanswered', isSuccess: false, values: { ...unasked, '[CONNECTED]': 'false' } };

const answered = (isSuccess: boolean, values: Values): Outcome => ({
  kind: isSuccess ? 'answered' : 'refused',
  isSuccess,
  values: { ...unasked, '[CONNECTED]': 'true', ...values },
});

/** The statuses that end a request. kubelet's range of success for httpGet is 200 to 399. */
const http: readonly Outcome[] = [
  unanswered,
  ...Array.from({ length: 400 }, (_, index) => index + 200).map((status) =>
    answered(status < 400, {
      '[STATUS]': String(status),
      '[BODY]': undefined,
      '[CERTIFICATE_EXPIRATION]': undefined,
    }),
  ),
];

const statuses = ['SERVING', 'NOT_SERVING', 'UNKNOWN', 'SERVICE_UNKNOWN'] as const;

const grpc: readonly Outcome[] = [
  unanswered,
  ...statuses.map((status) => answered(status === 'SERVING', { '[BODY]': JSON.stringify({ status }) })),
];

export type EndpointRequest = {
  readonly by: ProbedBy;
  readonly connection?: Connection;
  /** A body, which a connection sends and waits for an answer to. */
  readonly hasBody?: boolean;
  /** Whether it runs a command over SSH, whose exit code is the status. */
  readonly logsIn?: boolean;
};

export function outcomesOf({
  by,
  connection = 'tcp',
  hasBody = false,
  logsIn = false,
}: EndpointRequest): readonly Outcome[] {
  if (by === 'httpGet') return http;
  if (by === 'grpc') return grpc;
  const isSecure = connection === 'tls' || connection === 'starttls';
  const hasAnswer = hasBody || logsIn || connection === 'ws' || connection === 'wss';
  const values: Values = {
    ...(hasAnswer && { '[BODY]': undefined }),
    ...(isSecure && { '[CERTIFICATE_EXPIRATION]': undefined }),
    ...(logsIn && { '[STATUS]': undefined }),
  };
  // Without a login the status of SSH says whether there was an answer.
  const none = connection === 'ssh' && !logsIn ? { ...unanswered.values, '[STATUS]': '1' } : unanswered.values;
  return [{ ...unanswered, values: none }, answered(true, values)];
}
