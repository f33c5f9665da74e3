/**
 * Mistakes that people make with probes: valid specs that rarely mean what they say. Decided from the spec alone, with
 * its defaults. A finding refuses nothing.
 */

import { sameValue } from '../../lib/equality.ts';
import { probeCpuMs } from './handler-fields.ts';
import { cpuMs, handlerKinds } from './handlers.ts';
import { tickPeriodSecondsMin } from './limits.ts';
import { toolsOf } from './probe-command.ts';
import { type Probe, probeOf, probePointer, type SpecProbe, specProbes, type TargetSpec } from './spec.ts';
import type { ProbeType } from './types.ts';

/** `warning`: the probe is likely to do harm. `note`: it does less than it could. */
export type Severity = 'warning' | 'note';

export type Finding = {
  readonly rule: LintRuleId;
  readonly severity: Severity;
  /** JSON pointer (RFC 6901) to the field in the spec with its defaults. */
  readonly pointer: string;
  readonly reason: string;
  /** What to write instead. */
  readonly mend: string;
};

export type LintRuleId = keyof typeof lintRules;

type LintRule = {
  readonly severity: Severity;
  /** One sentence for a list of rules. */
  readonly summary: string;
  /** Undefined: the rule has nothing against the probe. */
  readonly find: (subject: SpecProbe) => Found | undefined;
};

/** `field`: path below the probe, e.g. `exec/command`. */
type Found = { readonly field: string; readonly reason: string; readonly mend: string };

export const lintRules = {
  'liveness-equals-readiness': {
    severity: 'warning',
    summary: 'A liveness probe equals the readiness probe and gives up no later.',
    find: livenessEqualsReadiness,
  },
  'timeout-above-period': {
    severity: 'warning',
    summary: 'A time-out is longer than the period.',
    find: timeoutAbovePeriod,
  },
  'initial-delay-for-startup': {
    severity: 'note',
    summary: 'A long initial delay of a liveness probe stands where a startup probe belongs.',
    find: initialDelayForStartup,
  },
  'liveness-on-dependency': {
    severity: 'warning',
    summary: 'A liveness probe asks for a path that reports on dependencies.',
    find: livenessOnDependency,
  },
  'no-failure-headroom': {
    severity: 'warning',
    summary: 'One slow answer is enough to fail: failureThreshold 1 with a time-out of 1 s.',
    find: noFailureHeadroom,
  },
  'exec-instead-of-handler': {
    severity: 'note',
    summary: 'A command asks over the network what a handler asks without a process.',
    find: execInsteadOfHandler,
  },
  'period-beyond-plan': {
    severity: 'note',
    summary: 'The period costs much more than the plans in the table of costs, or gains nothing for its cost.',
    find: periodBeyondPlan,
  },
} as const satisfies { readonly [id: string]: LintRule };

const rules = Object.entries(lintRules) as readonly (readonly [LintRuleId, LintRule])[];

/** All findings, by probe in kubelet's order, then in the order of the rules. */
export function lintSpec(spec: TargetSpec): readonly Finding[] {
  return specProbes(spec).flatMap((subject) =>
    rules.flatMap(([rule, { severity, find }]) => {
      const found = find(subject);
      if (!found) return [];
      const { field, reason, mend } = found;
      return [{ rule, severity, pointer: `${probePointer(spec, subject)}/${field}`, reason, mend }];
    }),
  );
}

/** Seconds of failures until the probe trips. */
const patience = ({ failureThreshold, periodSeconds }: Probe): number => failureThreshold * periodSeconds;

function livenessEqualsReadiness({ container, probeType, probe }: SpecProbe): Found | undefined {
  const readiness = probeOf(container.spec, 'readiness');
  if (probeType !== 'liveness' || !readiness || patience(probe) > patience(readiness)) return undefined;
  if (!handlerKinds.every((kind) => sameValue(probe[kind], readiness[kind]))) return undefined;
  return {
    field: 'failureThreshold',
    reason: `asks the same as the readiness probe and gives up no later (${patience(probe)} s), so what should only stop traffic requests a restart`,
    mend: 'a failureThreshold whose failures last longer than those of readiness, or a request that fails only where a restart helps',
  };
}

function timeoutAbovePeriod({ probe: { timeoutSeconds, periodSeconds } }: SpecProbe): Found | undefined {
  if (timeoutSeconds <= periodSeconds) return undefined;
  return {
    field: 'timeoutSeconds',
    reason: `is longer than the period of ${periodSeconds} s, so one slow answer takes the place of the probes after it`,
    mend: `at most ${periodSeconds}, or a longer period`,
  };
}

/** Delays of up to half a minute are common, and cost little at each restart. */
const initialDelaySecondsTolerated = 30;

function initialDelayForStartup({ container, probeType, probe }: SpecProbe): Found | undefined {
  if (probeType !== 'liveness' || probe.initialDelaySeconds < initialDelaySecondsTolerated) return undefined;
  if (probeOf(container.spec, 'startup')) return undefined;
  return {
    field: 'initialDelaySeconds',
    reason: 'delays liveness after each restart, however fast the start, and a slower start is restarted for ever',
    mend: 'a startupProbe whose failureThreshold times periodSeconds is the longest start; liveness begins as soon as it succeeds',
  };
}

/** The last part of a path that reports on others. Readiness is about them by its nature. */
const dependencyWords: ReadonlySet<string> = new Set([
  ...['ready', 'readyz', 'readiness', 'dependencies', 'dependency', 'deps', 'upstream', 'upstreams', 'downstream'],
  ...['db', 'database', 'databases', 'postgres', 'postgresql', 'mysql', 'mariadb', 'mongo', 'mongodb', 'cassandra'],
  ...['redis', 'memcached', 'kafka', 'rabbitmq', 'elasticsearch', 'opensearch'],
]);
/** Spring Boot's whole health, which includes databases and brokers; its part for liveness is below that path. */
const wholeHealth = '/actuator/health';

function livenessOnDependency({ probeType, probe }: SpecProbe): Found | undefined {
  const path = probe.httpGet?.path;
  if (probeType !== 'liveness' || path === undefined) return undefined;
  const steps = (path.split(/[?#]/)[0] ?? '').toLowerCase().split('/').filter(Boolean);
  const words = (steps.at(-1) ?? '').split(/[^a-z0-9]+/);
  if (!words.some((word) => dependencyWords.has(word)) && !`/${steps.join('/')}`.endsWith(wholeHealth))
    return undefined;
  return {
    field: 'httpGet/path',
    reason: 'seems to report on dependencies, whose outage would request a restart of everything that uses them',
    mend: 'a path that says whether the process itself works; dependencies belong to the readiness probe',
  };
}

const consequences: { readonly [type in ProbeType]: string } = {
  startup: 'requests a restart',
  liveness: 'requests a restart',
  readiness: 'takes the target out of service',
};

function noFailureHeadroom({ probeType, probe }: SpecProbe): Found | undefined {
  if (probe.failureThreshold > 1 || probe.timeoutSeconds > 1) return undefined;
  return {
    field: 'failureThreshold',
    reason: `is 1 with a time-out of 1 s, so a single answer that takes longer ${consequences[probeType]}`,
    mend: 'a failureThreshold of 3, or a timeoutSeconds above the slowest good answer',
  };
}

function execInsteadOfHandler({ probe }: SpecProbe): Found | undefined {
  const [tool] = toolsOf(probe.exec?.command ?? []);
  if (!tool) return undefined;
  return {
    field: 'exec/command',
    reason: `starts a process for ${tool.name}, which costs ${probeCpuMs.exec / probeCpuMs.http} times an HTTP probe`,
    mend: `the handler ${tool.handler}`,
  };
}

/** The dearest plan in the table of costs (docs/operating.md, Costs): HTTPS each 10 s. ms of CPU a second. */
const plannedCpuMs = 2 / 10;
/** A probe that costs more times as much is dearer than any plan allows for. */
const planFactorMax = 5;
/** Above this, and below a minute, a period detects hardly earlier than a minute does. */
const promptPeriodSecondsMax = 30;

function periodBeyondPlan({ probeType, probe }: SpecProbe): Found | undefined {
  // A startup probe ends with its first success.
  if (probeType === 'startup') return undefined;
  const field = 'periodSeconds';
  const { periodSeconds } = probe;
  const factor = cpuMs(probe) / periodSeconds / plannedCpuMs;
  if (factor > planFactorMax)
    return {
      field,
      reason: `of ${periodSeconds} s costs ${Math.round(factor)} times an HTTPS probe each 10 s, the dearest plan in the table of costs`,
      mend: `at least ${Math.ceil(cpuMs(probe) / plannedCpuMs / planFactorMax)}`,
    };
  if (periodSeconds <= promptPeriodSecondsMax || periodSeconds >= tickPeriodSecondsMin) return undefined;
  return {
    field,
    reason: `of ${periodSeconds} s keeps its shard held at all times, as one of 10 s does`,
    mend: `${tickPeriodSecondsMin}, with which seconds of each minute are enough, or at most ${promptPeriodSecondsMax}`,
  };
}
