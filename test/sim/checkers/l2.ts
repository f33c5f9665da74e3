/** L2: after it has been calm for long a status is what the newest spec, report and results make of it, back-offs and graces included. */
import { sameValue } from '../../../shared/core/equality.ts';
import type { ProbeRecord, ReportRecord, StatusRecord, TargetRecord } from '../../../shared/core/records.ts';
import { probeName } from '../../../shared/core/spec.ts';
import { planSync } from '../../../shared/core/sync.ts';
import { prefixEnd, targetAddress } from '../../../shared/store/keys.ts';
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';

/** What changed a moment ago may still be on its way. */
const freshMs = 60_000;
/** A status that was written a moment ago is being published, and its outbox cleared then. */
const publishingMs = 5_000;
/** Whoever purges, or ends a back-off, does it by its own clock. */
const graceMs = 30_000;

export const l2: Checker = ({ table, ledger, nowMs }, violated) => {
  const changed = new Map<string, number>();
  const written = new Map<string, number>();
  return {
    applied({ timeMs, changes }) {
      for (const { key } of changes) (keyKind(key) === 'STATUS' ? written : changed).set(prefixOf(key.sk), timeMs);
    },
    settled() {
      for (const target of ledger.targets()) {
        const address = targetAddress(target.namespace, target.name);
        if ((changed.get(address.prefix) ?? 0) > nowMs() - freshMs) continue;
        const items = table.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
        const found = <Record>(kind: string) => items.find((item) => item.kind === kind) as Record | undefined;
        const status = found<StatusRecord>('STATUS');
        if (!status) return violated(`${target.name} has no status`);
        const probes = items.filter(({ kind }) => kind === 'PROBE') as unknown as readonly ProbeRecord[];
        const report = found<ReportRecord>('REPORT');
        const state = {
          target: found<TargetRecord>('TARGET') ?? target,
          status,
          probes: Object.fromEntries(probes.map((probe) => [probeName(probe.container, probe.probeType), probe])),
          ...(report && { report }),
        };
        const plan = planSync(state, ledger.wallMs() - graceMs);
        const isOnItsWay =
          (written.get(address.prefix) ?? 0) > nowMs() - publishingMs && isOnlyToBePublished(status, plan);
        if (plan.kind !== 'settled' && !isOnItsWay)
          violated(`the status of ${target.name} is not the newest: ${differences(state.status, plan)}`);
      }
    },
  };
};

const isOnlyToBePublished = (status: StatusRecord, plan: ReturnType<typeof planSync>): boolean =>
  plan.kind === 'write' && status.outbox.length > 0 && sameValue({ ...plan.record, version: status.version }, status);

const prefixOf = (sk: string): string => sk.slice(0, sk.indexOf('#', sk.indexOf('#') + 1) + 1);

function differences(status: StatusRecord, plan: ReturnType<typeof planSync>): string {
  if (plan.kind !== 'write') return plan.kind;
  const names = Object.keys(plan.record) as readonly (keyof StatusRecord)[];
  const differing = names.filter((name) => JSON.stringify(status[name]) !== JSON.stringify(plan.record[name]));
  return differing
    .map((name) => `${name} ${JSON.stringify(status[name])} -> ${JSON.stringify(plan.record[name])}`)
    .join('; ');
}
