/**
 * Terminating: what had not been seen before the DELETE does not come about by it. After the write of the deletion
 * timestamp no liveness or startup probe gets a result, no failure of theirs is recorded, and no status says started or
 * ready what was not so by the results of that moment.
 */
import type { EventRecord, ProbeRecord, StatusRecord, TargetRecord } from '../../../shared/core/spec/records.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';

type ProbeType = ProbeRecord['probeType'];

type Found = Pick<ProbeRecord, 'containerID' | 'result' | 'unknown'>;

/** A target that terminates, and by container and type what its probes had found when it was deleted. */
type Deleted = { readonly target: TargetRecord; readonly found: ReadonlyMap<string, Found> };

const isStopped = (type: ProbeType | undefined): boolean => type === 'liveness' || type === 'startup';

export const terminating: Checker = ({ ledger }, violated) => {
  const deleted = new Map<string, Deleted>();

  const followTarget = ({ before, after }: Change) => {
    const target = (after ?? before) as unknown as TargetRecord;
    if (!after) return void deleted.delete(target.uid);
    if (target.deletionTimestampMs === undefined || deleted.has(target.uid)) return;
    const items = ledger.probesOf(target).map(({ item }) => [`${item.container}#${item.probeType}`, item] as const);
    deleted.set(target.uid, { target, found: new Map(items) });
  };

  const judgeProbe = (writer: string, { key, before, after }: Change) => {
    const [old, now] = [before, after] as unknown as [ProbeRecord | undefined, ProbeRecord | undefined];
    if (!old || !now || !deleted.has(now.uid) || !isStopped(now.probeType)) return;
    const isNew = now.version !== old.version && (now.result ?? now.unknown) !== undefined;
    if (isNew) violated(`${writer} set ${key.sk} to ${now.result} after the deletion of its target`);
  };

  const judgeEvent = (writer: string, { before, after }: Change) => {
    const event = after as unknown as EventRecord | undefined;
    if (before || !event || !deleted.has(event.uid) || !isStopped(event.probeType)) return;
    const isEnd = event.kind !== 'recorded' && event.result === undefined;
    if (!isEnd && event.reason !== 'Probed' && event.reason !== 'RestartRequested')
      violated(`${writer} recorded ${event.reason} (${event.message}) after the deletion of its target`);
  };

  const judgeStatus = (writer: string, { key, after }: Change) => {
    const status = after as unknown as StatusRecord | undefined;
    const of = status && deleted.get(status.uid);
    if (!of) return;
    for (const wrong of wrongIn(of, status)) violated(`${writer} wrote ${key.sk} of a terminating target: ${wrong}`);
  };

  return {
    applied({ writer, changes }) {
      // The deletion is one write with what it stops.
      for (const change of changes) if (keyKind(change.key) === 'TARGET') followTarget(change);
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (kind === 'PROBE') judgeProbe(writer, change);
        if (kind === 'STATUS') judgeStatus(writer, change);
        if (change.after?.kind === 'EVENT') judgeEvent(writer, change);
      }
    },
  };
};

function* wrongIn({ target, found }: Deleted, { status }: StatusRecord): Generator<string> {
  const { containers, initContainers, lifecycle } = target.spec;
  let isAllFound = true;
  for (const spec of [...containers, ...initContainers]) {
    const said = [...status.containerStatuses, ...status.initContainerStatuses].find(({ name }) => name === spec.name);
    if (!said) continue;
    const resultOf = (type: ProbeType) => {
      const item = found.get(`${spec.name}#${type}`);
      return item?.containerID === said.containerID && !item.unknown ? item.result : undefined;
    };
    if (said.started && spec.startupProbe && found.get(`${spec.name}#startup`)?.result !== 'success')
      yield `${spec.name} has started`;
    if (said.ready && lifecycle === 'static' && !spec.readinessProbe && resultOf('liveness') === 'failure')
      yield `${spec.name} is ready although its liveness fails`;
    if ((spec.startupProbe && !resultOf('startup')) || (spec.livenessProbe && !resultOf('liveness')))
      isAllFound = false;
  }
  const isReady = status.conditions.some((one) => one.type === 'Ready' && one.status === 'True');
  if (isReady && !isAllFound) yield 'it is Ready, and a probe had found nothing';
}
