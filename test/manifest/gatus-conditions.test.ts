/**
 * Conditions as Gatus judges them, recorded from its code (`gatus-conditions.json`): for each a row of the answers that
 * an endpoint may give, 1 where the condition is met. No endpoint becomes a probe that says the opposite.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { convertFile } from '../../shared/manifest/convert.ts';
import { isMet, parsedCondition } from '../../shared/manifest/gatus/conditions.ts';

type State = { readonly connected: boolean; readonly status: number; readonly ms: number; readonly body: string };
type Recorded = { readonly states: readonly State[]; readonly met: { readonly [condition: string]: string | null } };

const { states, met }: Recorded = JSON.parse(readFileSync(`${import.meta.dirname}/gatus-conditions.json`, 'utf8'));

const valuesIn = ({ connected, status, ms, body }: State) => ({
  '[CONNECTED]': String(connected),
  '[STATUS]': String(status),
  '[RESPONSE_TIME]': String(ms),
  '[BODY]': body,
});

test('conditions are met where Gatus says so', () => {
  let known = 0;
  for (const [text, recorded] of Object.entries(met)) {
    const condition = parsedCondition(text);
    assert.equal(condition === undefined, recorded === null, text);
    for (const [at, state] of states.entries()) {
      const found = condition && isMet(condition, valuesIn(state));
      if (found === undefined) continue;
      known += 1;
      assert.equal(found, recorded?.[at] === '1', `${text} for ${JSON.stringify(state)}`);
    }
  }
  assert.ok(known > 10_000, String(known));
});

type Kind = {
  readonly url: string;
  /** Whether the endpoint may give that answer. */
  readonly gives: (state: State) => boolean;
  /** Whether a probe of it succeeds, but for its time-out. */
  readonly succeeds: (state: State) => boolean;
};

/** Of Gatus. */
const clientTimeoutMs = 10_000;

/** By kubelet's rules for each handler. */
const kinds: readonly Kind[] = [
  {
    url: 'http://a/',
    gives: ({ connected, status, ms }) => (status >= 200 && ms < clientTimeoutMs) || (!connected && status === 0),
    succeeds: ({ connected, status }) => connected && status >= 200 && status < 400,
  },
  {
    url: 'tcp://a:1',
    gives: ({ status, body }) => status === 0 && body === '',
    succeeds: ({ connected }) => connected,
  },
  {
    url: 'grpc://a:1',
    gives: ({ connected, status, body }) => status === 0 && connected === (body !== ''),
    succeeds: ({ body }) => body.includes('"SERVING"'),
  },
];

/** Of the kind, with what the conditions together say. */
function table({ gives, succeeds }: Kind, conditions: readonly string[], timeoutMs: number) {
  return states.flatMap((state, at) => {
    if (!gives(state)) return [];
    const isHealthy = conditions.every((condition) => met[condition]?.[at] === '1');
    return [{ state, isHealthy, isSuccess: succeeds(state) && state.ms < timeoutMs }];
  });
}

type Converted =
  | { readonly kind: 'refused' }
  | { readonly kind: 'leftOut' }
  | { readonly kind: 'probed'; readonly timeoutMs: number; readonly isExact: boolean };

function convertedEndpoint(url: string, conditions: readonly string[]): Converted {
  const text = JSON.stringify({ endpoints: [{ name: 'a', url, conditions }] });
  const conversion = convertFile({ name: 'gatus.json', text });
  if (conversion.kind === 'invalid') return { kind: 'refused' };
  const [target] = conversion.targets;
  if (!target) {
    assert.ok(conversion.notes.some(({ kind }) => kind === 'leftOut'));
    return { kind: 'leftOut' };
  }
  const timeoutMs = (target.spec.containers[0]?.readinessProbe?.timeoutSeconds ?? 0) * 1_000;
  return { kind: 'probed', timeoutMs, isExact: conversion.notes.every(({ kind }) => kind !== 'approximated') };
}

/** The body of an HTTP answer is not known, and milliseconds decide which of two times around a second is late. */
const isJudged = (kind: Kind, conditions: readonly string[]): boolean =>
  !kind.url.startsWith('http') || conditions.every((condition) => !/body/i.test(condition));

function assertNotOpposite(kind: Kind, conditions: readonly string[]): void {
  const converted = convertedEndpoint(kind.url, conditions);
  const why = `${kind.url} ${JSON.stringify(conditions)} ${JSON.stringify(converted)}`;
  const isRefused = conditions.some((condition) => met[condition] === null);
  assert.equal(converted.kind === 'refused', isRefused, why);
  if (converted.kind === 'refused' || !isJudged(kind, conditions)) return;
  if (converted.kind === 'leftOut') {
    assert.ok(isOpposed(kind, conditions), why);
    return;
  }
  const rows = table(kind, conditions, converted.timeoutMs);
  const agreed = rows.filter(({ isSuccess, isHealthy }) => isSuccess && isHealthy);
  // All recorded answers but those of 200 take the same time, so not every pair of status and time is among them.
  const isPaired = [/response_time/i, /status/i].every((part) => conditions.some((each) => part.test(each)));
  assert.ok(agreed.length > 0 || isPaired, why);
  const differing = rows.filter(({ isSuccess, isHealthy }) => isSuccess !== isHealthy);
  if (converted.isExact)
    assert.deepEqual(
      differing.filter(({ state }) => state.ms % 1_000 !== 0),
      [],
      why,
    );
}

/**
 * Whether the endpoint is left out rightly: no answer in time satisfies both, or those that do are not the usual ones
 * while an error satisfies Gatus, or the condition asks for slowness, or compares with numbers that a machine decides.
 */
function isOpposed(kind: Kind, conditions: readonly string[]): boolean {
  const rows = table(kind, conditions, Number.POSITIVE_INFINITY);
  const agreed = rows.filter(({ isSuccess, isHealthy }) => isSuccess && isHealthy);
  const isUsual = ({ state }: (typeof rows)[number]) => !kind.url.startsWith('http') || state.status === 200;
  const isFast = agreed.some(({ state }) => state.ms <= 1_000);
  const byErrors = rows.some(isError) || isMetByOtherErrors(kind, conditions);
  const isTimed = conditions.some((condition) => /response_time/i.test(condition));
  const isOfMachine = conditions.some((condition) => /\b(inf|nan|1e30|9223372036854775808)\b/i.test(condition));
  return agreed.length === 0 || !isFast || isTimed || isOfMachine || (byErrors && !agreed.some(isUsual));
}

/** An answer with which Gatus is content and a probe fails. */
const isError = ({ state, isSuccess, isHealthy }: ReturnType<typeof table>[number]): boolean =>
  isHealthy && !isSuccess && state.connected;

/** Of the statuses that a pattern matches not all are recorded: two conditions may both be met by another error. */
const isMetByOtherErrors = (kind: Kind, conditions: readonly string[]): boolean =>
  conditions.some((condition) => /status.*pat\(|pat\(.*status/i.test(condition)) &&
  conditions.every((condition) => table(kind, [condition], Number.POSITIVE_INFINITY).some(isError));

describe('no endpoint becomes the opposite probe', () => {
  for (const kind of kinds) {
    test(`by one condition on ${kind.url}`, () => {
      for (const condition of Object.keys(met)) assertNotOpposite(kind, [condition]);
    });

    // Each pair of a pattern for the status and another condition on it, which chance seldom takes.
    test(`by a pattern and a second condition on ${kind.url}`, () => {
      const ofStatus = Object.keys(met).filter((condition) => /^(any|pat|\[)[^.]*\[?status/i.test(condition));
      for (const pattern of ofStatus.filter((condition) => condition.includes('pat(')))
        for (const second of ofStatus) assertNotOpposite(kind, [pattern, second]);
    });

    test(`by several conditions on ${kind.url}`, () =>
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...Object.keys(met)), { minLength: 2, maxLength: 3 }), (conditions) =>
          assertNotOpposite(kind, conditions),
        ),
        { numRuns: 500 },
      ));
  }
});

test('names of any text are no reason to refuse a file', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => /\P{ASCII}/u.test(text));
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 5, selector: (text) => text.trim() }), (names) => {
      const endpoints = names.map((each) => ({ name: each, url: 'tcp://a:1', conditions: ['[CONNECTED] == true'] }));
      const conversion = convertFile({ name: 'gatus.json', text: JSON.stringify({ endpoints }) });
      assert.ok(conversion.kind === 'converted', JSON.stringify(conversion));
      assert.equal(
        conversion.targets.length + conversion.notes.filter(({ kind }) => kind === 'leftOut').length,
        names.length,
      );
    }),
    { numRuns: 300 },
  );
});
