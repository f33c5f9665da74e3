/** Protections of what only `npm start` has, each taken away by a change of the source, and what has to notice that. */
import type { FaultKind } from './faults.ts';

/** `from` is in the file once. */
export type Change = { readonly file: string; readonly from: string; readonly to: string };

export type Noticing =
  | { readonly tests: readonly string[] }
  | { readonly kinds: readonly FaultKind[]; readonly hours: number; readonly seeds: readonly number[] };

export type StartMutant = { readonly name: string; readonly change: Change; readonly by: Noticing };

const simulated = (...kinds: readonly FaultKind[]): Noticing => ({ kinds, hours: 6, seeds: [1, 2, 3, 4] });
const tested = (...tests: readonly string[]): Noticing => ({ tests: tests.map((test) => `test/${test}.test.ts`) });

export const startMutants: readonly StartMutant[] = [
  {
    name: 'two batches of one id',
    change: { file: 'shared/alerts/batches.ts', from: 'batches.has(id);', to: 'false;' },
    by: tested('alerts/open-incidents'),
  },
  {
    name: 'a failing store is not looked at',
    change: {
      file: 'functions/local/alerts/alert-prober.ts',
      from: 'if (failing && nowMs - failing.monotonicMs >= storeFailsMs)',
      to: 'if (failing && nowMs < 0)',
    },
    by: simulated('store'),
  },
  {
    name: 'one malformed entry spoils all alerts',
    change: {
      file: 'shared/alerts/kept-alerts.ts',
      from: 'return { kept, problems };',
      to: 'return problems.length > 0 ? undefined : { kept, problems };',
    },
    by: simulated('power-loss'),
  },
  {
    name: 'alerts that cannot be read end the process',
    change: {
      file: 'shared/alerts/alerting.ts',
      from: 'const isOver = this.#clock.monotonicMs() >= untilMs;',
      to: 'const isOver = true;',
    },
    by: simulated('power-loss'),
  },
  {
    name: 'durations of alerts by the wall clock',
    change: {
      file: 'shared/alerts/alert-time.ts',
      from: 'steadyMs: Math.round(beganMs + readMs)',
      to: 'steadyMs: wallMs',
    },
    by: simulated('clock-step'),
  },
  {
    name: 'a problem of the prober is offered when it begins',
    change: {
      file: 'functions/local/alerts/alerts.ts',
      from: "if (degraded && isOn()) offer({ kind: 'prober', degraded });",
      to: [
        'const kinds = degraded?.map(({ problem }) => problem).join();',
        "if (degraded && globalThis.offered !== kinds) offer({ kind: 'prober', degraded });",
        'globalThis.offered = kinds;',
      ].join(' '),
    },
    by: simulated('store'),
  },
  {
    name: 'alerts share one incident of the prober',
    change: {
      file: 'shared/alerts/incident.ts',
      from: 'for (const rule of this.#rules)\n        if (rule.matchesEvent(event))',
      to: 'for (const rule of this.#rules.slice(0, 1))\n        if (rule.matchesEvent(event))',
    },
    by: tested('local/alerts/alert-prober'),
  },
  {
    name: 'half a file is applied',
    change: {
      file: 'functions/local/config/config-rest.ts',
      from: 'export const restMs = 30_000;',
      to: 'export const restMs = 0;',
    },
    by: tested('local/config/configuration'),
  },
  {
    name: 'files are at rest although they could not be looked at meanwhile',
    change: { file: 'functions/local/config/config-rest.ts', from: 'nowMs - this.#lookedMs > gapMsMax', to: 'false' },
    by: tested('local/config/config-rest'),
  },
  {
    name: 'what is read counts as the version that was found',
    change: { file: 'functions/local/config/config-targets.ts', from: 'this.isBehind ||= !isFound;', to: '' },
    by: tested('local/config/config-rest'),
  },
  {
    name: 'what is read counts as the version that has waited',
    change: {
      file: 'functions/local/config/config-targets.ts',
      from: 'isSame = isFound && before',
      to: 'isSame = before',
    },
    by: tested('local/config/config-rest'),
  },
  {
    name: 'half a file has the right to remove what the version that cannot be read may have',
    change: {
      file: 'functions/local/config/config-targets.ts',
      from: 'unread !== undefined || isInvalid',
      to: 'isInvalid',
    },
    by: tested('local/config/config-slow-reads'),
  },
  {
    name: 'an event that finds its queue full keeps later ones of its key out',
    change: {
      file: 'shared/bus/in-process.ts',
      from: 'const { log, queueMax } = this.#ports;',
      to: 'const { log, queueMax } = this.#ports;\n    if (key !== undefined) this.#keys.add(key);',
    },
    by: simulated('bus'),
  },
  {
    name: 'a scan outweighs a later look',
    change: {
      file: 'functions/local/alerts/alert-targets.ts',
      from: 'if (since.has(label) || isWell(input)) continue;',
      to: 'if (isWell(input)) continue;',
    },
    by: tested('local/alerts/alert-targets'),
  },
  {
    name: 'a look during a scan is no sign of life',
    change: {
      file: 'functions/local/alerts/alert-targets.ts',
      from: 'new Set([...spared, ...since])',
      to: 'spared',
    },
    by: tested('local/alerts/alert-targets'),
  },
  {
    name: 'a full disk keeps no alerts',
    change: {
      file: 'functions/local/alerts/alert-file.ts',
      from: 'await reserve.write(keptText(kept)).catch(() => {\n          throw error;\n        });',
      to: 'throw error;',
    },
    by: tested('local/alerts/alert-reserve'),
  },
  {
    name: 'a power loss during a write to the reserve takes what it had',
    change: { file: 'functions/local/alerts/alert-reserve.ts', from: 'const halves = 2;', to: 'const halves = 1;' },
    by: tested('local/alerts/alert-reserve'),
  },
  {
    name: 'the reserve outweighs a later file of alerts',
    change: {
      file: 'functions/local/alerts/alert-reserve.ts',
      from: 'return found?.after === (await versionOf(alertsPath)) ? found.text : undefined;',
      to: 'return found?.text;',
    },
    by: tested('local/alerts/alert-reserve'),
  },
  {
    name: 'a status that cannot be read is an end',
    change: { file: 'shared/alerts/seen.ts', from: '...(!status && { isUnreadable: true }),', to: '' },
    by: tested('alerts/unreadable-status'),
  },
  {
    name: 'kept alerts are made in one turn',
    change: {
      file: 'functions/local/alerts/alert-file.ts',
      from: 'slicesOf(keptText(kept))',
      to: "[...keptText(kept)].join('')",
    },
    by: tested('local/alerts/alert-file'),
  },
  {
    name: 'counters are read behind what they count',
    change: {
      file: 'shared/holder/load.ts',
      from: 'this.#loaded.counters = counters;',
      to: 'this.#loaded.counters = await readChanges(ports.store, message.buckets, false);',
    },
    by: tested('holder/load'),
  },
  {
    name: 'memory of a run that ended otherwise',
    change: {
      file: 'shared/holder/shard-run.ts',
      from: "isIdle && end.kind === 'slotDone' ? this.#loader.loaded() : undefined",
      to: 'this.#loader.loaded()',
    },
    by: tested('holder/kept-memory'),
  },
  {
    name: 'no last beat of a run that was asked to leave',
    change: {
      file: 'shared/holder/shard-run.ts',
      from: "kind === 'slotDone' || kind === 'asked' || kind === 'handover'",
      to: "kind === 'slotDone'",
    },
    by: tested('holder/ask-to-leave', 'holder/shard-run', 'holder/host'),
  },
  {
    name: 'a request of the far future waits for it',
    change: {
      file: 'shared/core/status/restart-requests.ts',
      from: ' || nextAtMs > nowMs + requestAgainMaxMs + clockSkewMsMax',
      to: '',
    },
    by: tested('core/status/restart-requests'),
  },
  {
    name: 'a commit in doubt is undone',
    change: {
      file: 'shared/store/sqlite/groups.ts',
      from: 'const isInDoubt = isIoError(error);',
      to: 'const isInDoubt = false;',
    },
    by: tested('store/sqlite-faults'),
  },
  {
    name: 'a commit that failed is in doubt',
    change: {
      file: 'shared/store/sqlite/groups.ts',
      from: 'const isInDoubt = isIoError(error);',
      to: 'const isInDoubt = true;',
    },
    by: tested('store/sqlite-faults'),
  },
  {
    name: 'alerts are kept as if the clock had not been set',
    change: {
      file: 'shared/alerts/kept-alerts.ts',
      from: 'Math.abs(shiftMs) < clockStepMsMin ? state',
      to: 'clockStepMsMin > 0 ? state',
    },
    by: tested('alerts/clock-steps'),
  },
  {
    name: 'kept alerts of the future stay there',
    change: {
      file: 'shared/alerts/kept-alerts.ts',
      from: '(ms) => Math.min(ms, steadyMs + groupWindowMs)',
      to: '(ms) => ms',
    },
    by: tested('alerts/kept-time'),
  },
  {
    name: 'a minute after a crash counts as covered',
    change: {
      file: 'shared/holder/tick.ts',
      from: 'if (before.doneSlot !== before.slot) {',
      to: 'if (before.doneSlot > before.slot) {',
    },
    by: tested('holder/tick-covered'),
  },
  {
    name: 'a target is removed although another file has it by now',
    change: {
      file: 'functions/local/config/config-targets.ts',
      from: 'stored && stored.target.annotations[configFileAnnotation] !== file',
      to: 'stored && stored.target.uid === file',
    },
    by: tested('local/config/config-pruning'),
  },
  {
    name: 'no scan after a start',
    change: {
      file: 'functions/local/alerts/alerts.ts',
      from: 'const firstScanMs = 30_000;',
      to: 'const firstScanMs = 3e9;',
    },
    by: simulated('power-loss', 'events'),
  },
  {
    name: 'a new process waits for the run of a dead one',
    change: {
      file: 'functions/local/process/shard-host.ts',
      from: 'const isAlone = isFirst;',
      to: 'const isAlone = false;',
    },
    by: simulated('clock-step', 'power-loss'),
  },
  {
    name: 'a new process believes the slots of a dead one',
    change: {
      file: 'functions/local/process/shard-host.ts',
      from: 'isFirst ? ofNewProcess(sent) : sent',
      to: 'sent',
    },
    by: simulated('clock-step', 'power-loss'),
  },
  {
    name: 'a slot that is hours ahead counts as done',
    change: {
      file: 'functions/local/process/shard-host.ts',
      from: 'const sent = ofOneClock(message);',
      to: 'const sent = message;',
    },
    by: tested('local/clock-set-back'),
  },
];
