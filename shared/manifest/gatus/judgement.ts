/**
 * What a probe makes of the conditions of an endpoint of Gatus. Each is asked of every answer that the endpoint may
 * give, and compared with what a probe says of that answer. So the conditions together are what the probe asks, or
 * nearly that, or something that no probe may stand for.
 */
import { timeoutSecondsMax } from '../../core/spec/limits.ts';
import { wholeSeconds } from '../duration.ts';
import { type Condition, isMet, parsedCondition, placeholdersOf } from './conditions.ts';
import { type Asked, type Outcome, outcomesOf, unknown } from './outcomes.ts';

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

  judge(texts: readonly string[], asked: Asked): Judgement {
    const conditions = texts.map(parsedCondition);
    const wrong = conditions.indexOf(undefined);
    if (wrong >= 0) return { kind: 'wrong', index: wrong };
    const outcomes = outcomesOf(asked);
    const given = conditions.flatMap((condition) => condition ?? []);
    const judged = given.map((condition, index) =>
      isOfTime(condition)
        ? judgedTime(condition, index)
        : this.#judged({ condition, index, says: this.#says(texts[index] ?? '', condition, asked) }, outcomes, asked),
    );
    const opposed = judged.find(({ kind }) => kind === 'opposes');
    if (opposed) return opposed;
    const all = judged.flatMap((each) => (each.kind === 'probed' ? [each] : []));
    const met = outcomes.filter((_, at) => all.every(({ says }) => says?.[at] !== false));
    const together = judgedTogether(met, asked);
    if (together.kind === 'opposes') return together;
    return {
      kind: 'probed',
      timeoutSeconds: all.flatMap(({ timeoutSeconds }) => timeoutSeconds),
      approximated: [...all, together].flatMap(({ approximated }) => approximated),
    };
  }

  #says(text: string, condition: Condition, asked: Asked): Says {
    const key = JSON.stringify([text, asked]);
    const known = this.#said.get(key);
    if (known) return known;
    const says = outcomesOf(asked).map(({ values }) => isMet(condition, values));
    this.#said.set(key, says);
    return says;
  }

  #judged({ condition, index, says }: Said, outcomes: readonly Outcome[], { by }: Asked): One {
    const ofSuccess = says.filter((_, at) => outcomes[at]?.isSuccess);
    const probed = { kind: 'probed', says, timeoutSeconds: [] } as const;
    if (says.every((each) => each === false)) return { kind: 'opposes', index, reason: 'is never met' };
    if (ofSuccess.every((each) => each === false)) return { kind: 'opposes', index, reason: succeedsOnly[by] };
    if (ofSuccess.every((each) => each === true)) return { ...probed, approximated: [] };
    if (ofSuccess.some((each) => each === true)) return { ...probed, approximated: [{ index, reason: anyStatus }] };
    const unknownOf = (name: string) =>
      outcomes.some(({ isSuccess, values }) => isSuccess && values[name] === undefined);
    const missing = placeholdersOf(condition).find(unknownOf);
    if (missing === undefined) return { kind: 'opposes', index, reason: 'compares with what depends on the machine' };
    return { ...probed, approximated: [{ index, reason: `is not asked: ${reasons[missing] ?? ''}` }] };
  }
}

type Said = { readonly condition: Condition; readonly index: number; readonly says: Says };

type One =
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
function judgedTogether(met: readonly Outcome[], { by }: Asked): Extract<One, { readonly kind: 'probed' | 'opposes' }> {
  const isTypical = ({ isSuccess, values }: Outcome) => isSuccess && (by !== 'httpGet' || values['[STATUS]'] === '200');
  const has = (kind: Outcome['kind']) => met.some((outcome) => outcome.kind === kind);
  if (!has('answered'))
    return { kind: 'opposes', reason: 'has conditions that are met together by no answer for which a probe succeeds' };
  if (has('refused') && !met.some(isTypical))
    return { kind: 'opposes', reason: 'is met by answers for which a probe fails, and not by the usual success' };
  const reason = content(has('refused'), has('unanswered'), by);
  return { kind: 'probed', timeoutSeconds: [], approximated: reason === undefined ? [] : [{ reason }] };
}

function content(byRefused: boolean, byUnanswered: boolean, by: Asked['by']): string | undefined {
  const refused = by === 'grpc' ? 'a status other than SERVING' : 'some status of 400 or more';
  const what = [...(byRefused ? [refused] : []), ...(byUnanswered ? ['no answer at all'] : [])];
  return what.length === 0 ? undefined : `is content with ${what.join(' and with ')}, for which a probe fails`;
}

const isOfTime = (condition: Condition): boolean => placeholdersOf(condition).includes('[RESPONSE_TIME]');

/** An upper bound is a time-out. It is found by asking for times around every number in the condition. */
function judgedTime(condition: Condition, index: number): One {
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

/** In milliseconds. */
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
