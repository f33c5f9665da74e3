/**
 * L2: after a long calm a status is what spec, newest report and newest results imply, by the restatement in
 * test/sim/oracle, and a target whose grace period has passed is gone.
 */
import { prefixEnd, targetAddress } from '../../../shared/store/records/keys.ts';
import type { Item } from '../../../shared/store/store.ts';
import { type ExpectedPod, expectedPod } from '../oracle/pod.ts';
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';
import { type SeenItems, seenPod, statusesIn } from './seen-pod.ts';

/** What changed less than this ago may still be on its way. */
const freshMs = 60_000;
/** The purge happens by the clock of the process that does it, and is asked for again every 10 s. */
const graceMs = 45_000;

export const l2: Checker = ({ table, ledger, nowMs }, violated) => {
  const changed = new Map<string, number>();
  const written = new Map<string, number>();
  return {
    applied({ timeMs, changes }) {
      for (const { key } of changes) (keyKind(key) === 'STATUS' ? written : changed).set(prefixOf(key.sk), timeMs);
    },
    settled() {
      for (const target of ledger.targets()) {
        const { name, namespace, deletionTimestampMs } = target;
        if (deletionTimestampMs !== undefined && deletionTimestampMs < ledger.wallMs() - graceMs)
          violated(`${name} is still there, ${ledger.wallMs() - deletionTimestampMs} ms after its grace period`);
        const { pk, prefix } = targetAddress(namespace, name);
        if ((changed.get(prefix) ?? 0) > nowMs() - freshMs) continue;
        const items = itemsOf(table.query({ pk, from: prefix, to: prefix + prefixEnd }));
        if (!items) return violated(`${name} has no status`);
        for (const wrong of wrongIn(items))
          violated(`the status of ${name}, written at ${written.get(prefix)}, is not the newest: ${wrong}`);
      }
    },
  };
};

const prefixOf = (sk: string): string => sk.slice(0, sk.indexOf('#', sk.indexOf('#') + 1) + 1);

function itemsOf(items: readonly Item[]): SeenItems | undefined {
  const found = (kind: string) => items.find((item) => item.kind === kind);
  const [target, status, report] = [found('TARGET'), found('STATUS'), found('REPORT')];
  if (!target || !status) return undefined;
  return { target, status, probes: items.filter(({ kind }) => kind === 'PROBE'), ...(report && { report }) };
}

/** The status against what is expected, and what it has taken in against what there is. */
function* wrongIn(items: SeenItems): Generator<string> {
  const { target, report, status } = items;
  yield* differencesOf(expectedPod(seenPod(items)), items);
  const seen = { target: status.observedResourceVersion, report: status.observedReportVersion };
  const newest = { target: target.resourceVersion, report: report?.version ?? 0 };
  if (JSON.stringify(seen) !== JSON.stringify(newest))
    yield `it has taken in ${JSON.stringify(seen)} of ${JSON.stringify(newest)}`;
}

function* differencesOf({ phase, containers, conditions }: ExpectedPod, items: SeenItems): Generator<string> {
  const said = statusesIn(items);
  if (said.phase !== phase) yield `phase ${said.phase}, not ${phase}`;
  for (const expected of containers) {
    const found = said.containers.find(({ name }) => name === expected.name);
    if (found?.started !== expected.started || found.ready !== expected.ready)
      yield `${expected.name} started ${found?.started}, ready ${found?.ready}, not ${expected.started}, ${expected.ready}`;
    if (found?.containerID !== expected.containerID)
      yield `${expected.name} is ${found?.containerID}, not ${expected.containerID}`;
  }
  for (const [type, expected] of Object.entries(conditions)) {
    const found = said.conditions.find((one) => one.type === type);
    if (found?.status !== expected.status || found.reason !== expected.reason)
      yield `${type} ${found?.status} ${found?.reason}, not ${expected.status} ${expected.reason}`;
  }
}
