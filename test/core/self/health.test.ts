import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  afterSelfCheck,
  type CanaryAnswer,
  canaryProblem,
  findingOf,
  isClockJump,
  isStall,
  mayTrust,
  needsSelfCheck,
  type Reach,
  reachOf,
  type SelfHealth,
  type Signs,
  voided,
} from '../../../shared/core/self/health.ts';
import type { FailureClass } from '../../../shared/core/spec/types.ts';

const sound = { kind: 'sound' } as SelfHealth;

/** The state after each self-check: `.` passed, `x` failed. */
const kindsOf = (script: string): readonly string[] => {
  let health = sound;
  return [...script].map((sign, at) => {
    health = afterSelfCheck(health, sign === 'x' ? { reason: 'NetworkUnreachable' } : undefined, at);
    return health.kind;
  });
};

describe('the state after several self-checks', () => {
  test('a single bad one is a suspicion, which a good one ends', () =>
    assert.deepEqual(kindsOf('.x.x.'), ['sound', 'suspect', 'sound', 'suspect', 'sound']));

  test('a second bad one in a row is a doubt, which three good ones in a row end', () => {
    const doubtful = Array.from({ length: 5 }, () => 'doubtful');
    assert.deepEqual(kindsOf('xx.x..'), ['suspect', ...doubtful]);
    assert.deepEqual(kindsOf('xx...'), ['suspect', 'doubtful', 'doubtful', 'doubtful', 'sound']);
  });

  test('a doubt is as old as its first sign', () => {
    const doubted = afterSelfCheck(
      afterSelfCheck(sound, { reason: 'ClockJumped' }, 5),
      { reason: 'NetworkUnreachable' },
      9,
    );
    assert.deepEqual(doubted, { kind: 'doubtful', reason: 'NetworkUnreachable', sinceMs: 5, soundInARow: 0 });
  });

  test('a shortage of descriptors is a doubt only once it has lasted for half a minute', () => {
    const short = (since: SelfHealth, atMs: number) => afterSelfCheck(since, { reason: 'OutOfDescriptors' }, atMs);
    const suspect = short(short(sound, 5), 30_004);
    assert.deepEqual(suspect, { kind: 'suspect', reason: 'OutOfDescriptors', sinceMs: 5 });
    assert.equal(short(suspect, 30_005).kind, 'doubtful');
    assert.equal(afterSelfCheck(suspect, undefined, 30_005).kind, 'sound');
  });

  test('only a sound prober may be trusted', () => {
    const suspect = afterSelfCheck(sound, { reason: 'ClockJumped' }, 5);
    assert.deepEqual([sound, suspect, afterSelfCheck(suspect, { reason: 'ClockJumped' }, 6)].map(mayTrust), [
      true,
      false,
      false,
    ]);
  });
});

const canary = (reach: Reach, problem?: CanaryAnswer['problem']): CanaryAnswer => ({ reach, problem });

const signs = (fields: Partial<Signs>): Signs => ({
  canaries: [],
  reaches: new Set(['network']),
  stalls: 0,
  jumpMs: 0,
  disagrees: false,
  ...fields,
});

describe('what a self-check finds', () => {
  const dark = canary('network', 'NetworkUnreachable');
  const routed = [canary('private'), canary('public', 'NetworkUnreachable')];
  const reach = (one: Reach) => new Set([one]);
  for (const [what, fields, finding] of [
    ['nothing without a canary', {}, undefined],
    ['no canary answers', { canaries: [dark, dark] }, 'NetworkUnreachable'],
    ['one canary answers', { canaries: [dark, canary('network')] }, undefined],
    ['only its own listener answers', { canaries: [dark, canary('loopback')] }, 'NetworkUnreachable'],
    [
      'targets on loopback do not need the network',
      { canaries: [dark, canary('loopback')], reaches: new Set(['loopback' as const]) },
      undefined,
    ],
    ['a command goes nowhere', { canaries: [dark], reaches: new Set(['none' as const]) }, undefined],
    ['the resolver', { canaries: [canary('network', 'ResolverUnavailable')] }, 'ResolverUnavailable'],
    ['several stalls before anything else', { canaries: [dark], stalls: 3 }, 'EventLoopStalled'],
    ['a stall or two void their probes only', { stalls: 2 }, undefined],
    ['a jump forwards', { jumpMs: 2_001 }, 'ClockJumped'],
    ['a jump backwards', { jumpMs: -2_001 }, 'ClockJumped'],
    ['the public route alone', { canaries: routed }, 'NetworkUnreachable on public'],
    [
      'a name may take the route that is cut',
      { canaries: routed, reaches: reach('network') },
      'NetworkUnreachable on public',
    ],
    ['a target on the other route does not need it', { canaries: routed, reaches: reach('private') }, undefined],
    ['one of two canaries of the route answers', { canaries: [...routed, canary('public')] }, undefined],
    [
      'a route without a canary has those of the other',
      { canaries: [canary('private', 'NetworkUnreachable')] },
      'NetworkUnreachable',
    ],
    ['a target on loopback needs no route', { canaries: routed, reaches: reach('loopback') }, undefined],
    ['another place reaches what fails here', { disagrees: true }, 'SecondPlaceDisagrees'],
    ['a clock that is put right', { jumpMs: 2_000 }, undefined],
  ] as const satisfies readonly (readonly [string, Partial<Signs>, string | undefined])[])
    test(`${what}: ${finding ?? 'nothing wrong'}`, () => {
      const { reason, route } = findingOf(signs(fields)) ?? {};
      assert.equal(route ? `${reason} on ${route}` : reason, finding);
    });
});

describe('what a canary says', () => {
  const failed = (failureClass: FailureClass, code?: string) =>
    canaryProblem({ kind: 'failed', failureClass, ...(code && { code }) });
  test('any answer of the other end is one', () => {
    assert.equal(canaryProblem({ kind: 'connected' }), undefined);
    assert.equal(failed('CONNECT_REFUSED'), undefined);
    assert.equal(failed('CONNECT_RESET'), undefined);
  });
  for (const [failureClass, code, problem] of [
    ['CONNECT_TIMEOUT', undefined, 'NetworkUnreachable'],
    ['CONNECT_UNREACHABLE', 'ENETUNREACH', 'NetworkUnreachable'],
    ['DNS', undefined, 'ResolverUnavailable'],
    ['PROBER', undefined, 'ResolverUnavailable'],
    ['PROBER', 'EMFILE', 'OutOfDescriptors'],
    ['PROBER', 'ENETDOWN', 'NetworkUnreachable'],
  ] as const)
    test(`${failureClass} ${code ?? ''} is ${problem}`, () => assert.equal(failed(failureClass, code), problem));
});

test('which way a probe goes is read from its host', () => {
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', '[::1]', 'localhost', 'app.localhost', 'LOCALHOST.'])
    assert.equal(reachOf(host), 'loopback', host);
  for (const host of ['example.test', 'localhost.example.test', '10.0.0', 'fd00.test', '10.0.0.1.test'])
    assert.equal(reachOf(host), 'network', host);
  for (const host of ['10.0.0.1', '172.16.0.1', '172.31.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', '[FC00::1]'])
    assert.equal(reachOf(host), 'private', host);
  for (const host of ['128.0.0.1', '172.32.0.1', '11.0.0.1', '100.128.0.1', '192.169.0.1', '::2', '2001:db8::1'])
    assert.equal(reachOf(host), 'public', host);
});

test('a late event loop is a stall from 100 ms on', () => {
  assert.deepEqual([99, 100, Number.NEGATIVE_INFINITY].map(isStall), [false, true, false]);
  assert.equal(isClockJump(2_000), false);
});

const resultOf = (result: 'success' | 'failure') => ({ conclusion: { kind: 'result' as const, result }, attempts: [] });
const errorOf = (failureClass: FailureClass) => ({
  conclusion: { kind: 'error' as const, error: 'e', failureClass },
  attempts: [],
});

test('only what the prober may have caused is self-checked, and only where it would change something', () => {
  assert.equal(needsSelfCheck(resultOf('success'), true), false);
  assert.equal(needsSelfCheck(resultOf('failure'), true), true);
  assert.equal(needsSelfCheck(resultOf('failure'), false), false);
  assert.equal(needsSelfCheck(errorOf('PROBER'), false), true);
  assert.equal(needsSelfCheck(errorOf('BODY'), false), true);
  assert.equal(needsSelfCheck(errorOf('POLICY_DENIED'), true), false);
});

test('what is void is a prober error without an event', () => {
  const event = { type: 'Warning' as const, reason: 'Unhealthy' as const, message: 'm', fieldPath: 'f' };
  assert.deepEqual(voided({ ...resultOf('failure'), event }, 'why'), {
    conclusion: { kind: 'error', error: 'why', failureClass: 'PROBER' },
    attempts: [],
  });
});
