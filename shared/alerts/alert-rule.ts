/** An alert of the configuration, compiled: which findings it is about, how long it waits, and what silences it. */
import { parseLabelSelector } from '../api/lists/label-selector.ts';
import { compilePattern } from '../bus/pattern.ts';
import type { Json } from '../lib/json.ts';
import { durationSeconds } from '../manifest/duration.ts';
import type { AlertConfig, AlertEntry } from './alert-config.ts';
import type { SilencedTime } from './alert-state.ts';
import type { SeenTarget } from './seen.ts';

export type AlertRule = {
  readonly name: string;
  readonly forMs: number;
  /** Absent: no reminders. */
  readonly remindMs?: number;
  readonly sendResolved: boolean;
  readonly onUnknown: boolean;
  readonly groupBy: readonly string[];
  readonly receivers: readonly string[];
  readonly matchesTarget: (target: SeenTarget) => boolean;
  /** `event` has the form that a subscriber of the bus receives. */
  readonly matchesEvent: (event: Json) => boolean;
  readonly silences: readonly Silence[];
};

export type Silence = SilencedTime & { readonly matches: (target: SeenTarget) => boolean };

/** Compiles the alerts of a valid configuration. */
export const alertRules = ({ alerts = [] }: AlertConfig): readonly AlertRule[] => alerts.map(ruleOf);

function ruleOf(entry: AlertEntry): AlertRule {
  const { match = {}, sendResolved = true, onUnknown = false, groupBy = [], silences = [] } = entry;
  const matchesEvent = match.pattern === undefined ? () => true : compilePattern(match.pattern);
  return {
    name: entry.name,
    forMs: milliseconds(entry.for),
    ...(entry.remind !== undefined && { remindMs: milliseconds(entry.remind) }),
    sendResolved,
    onUnknown,
    groupBy,
    receivers: entry.notify,
    matchesTarget: targetTest(match),
    matchesEvent,
    silences: silences.map(({ from, until, match: silenced }) => ({
      fromMs: from === undefined ? 0 : Date.parse(from),
      untilMs: Date.parse(until),
      matches: targetTest(silenced),
    })),
  };
}

const milliseconds = (text = '0'): number => (durationSeconds(text) ?? 0) * 1_000;

type TargetMatch = {
  readonly namespaces?: readonly string[] | undefined;
  readonly names?: readonly string[] | undefined;
  readonly labels?: string | undefined;
};

function targetTest({ namespaces, names, labels = '' }: TargetMatch): (target: SeenTarget) => boolean {
  const parsed = parseLabelSelector(labels);
  const inNamespace = namespaces && new Set(namespaces);
  const named = names && new Set(names);
  return (target) =>
    (inNamespace?.has(target.namespace) ?? true) &&
    (named?.has(target.name) ?? true) &&
    parsed.kind === 'selector' &&
    parsed.matches(target.labels);
}

/** When nothing is said of the target, but for what has ended. */
export const silencedTimes = ({ silences }: AlertRule, target: SeenTarget, nowMs: number): readonly SilencedTime[] =>
  silences
    .filter(({ untilMs, matches }) => untilMs > nowMs && matches(target))
    .map(({ fromMs, untilMs }) => ({ fromMs, untilMs }));
