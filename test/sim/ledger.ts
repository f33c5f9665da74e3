/**
 * What the history of the table shows: which run took which token, which target is at which address, and which probe
 * has which item. Checkers read it instead of a process.
 */
import type { ProbeRecord, TargetRecord } from '../../shared/core/spec/records.ts';
import { type ProbeName, type SpecProbe, specProbes } from '../../shared/core/spec/spec.ts';
import { epochKey, probeKey, type TargetAddress, targetAddress } from '../../shared/store/records/keys.ts';
import type { Item, Key, Operation } from '../../shared/store/store.ts';
import { worldStartMs } from './clock.ts';
import type { Endpoint } from './network.ts';
import { isOfRun, keyKind } from './store.ts';
import type { AppliedWrite, Change, Table } from './table.ts';

/** Whose probe an endpoint is. */
export type Probed = {
  readonly address: TargetAddress;
  readonly uid: string;
  readonly name: ProbeName;
  readonly probe: SpecProbe;
  /** Of its PROBE item. */
  readonly key: Key;
};

type Named = Pick<Probed, 'address' | 'name'> & Partial<Pick<Probed, 'key'>>;

const keyOf = ({ address, name, key }: Named): Key => key ?? probeKey(address, name);

export type Ledger = {
  /** Has to see every write before the checkers. */
  applied(write: AppliedWrite): void;
  /** The token that this run took, once it has claimed with it. */
  tokenOf(writer: string): number | undefined;
  /**
   * The token that may commit in the bucket: that of its EPOCH, or of the warm run that continues the run with that
   * token.
   */
  epochOf(bucket: string): number | undefined;
  probedAt(endpoint: Endpoint): Probed | undefined;
  /** Of a PROBE item of a target that is there. */
  endpointOf(key: Key): Endpoint | undefined;
  /** The lowest threshold of the last minutes: a holder learns of a new spec a moment later. */
  thresholdOf(endpoint: Endpoint, result: 'success' | 'failure'): number;
  /** When the PROBE item was last written. */
  probeWrittenMs(probed: Named): number;
  probeItem(probed: Named): ProbeRecord | undefined;
  targets(): Iterable<TargetRecord>;
  targetOf(uid: string): TargetRecord | undefined;
  probesOf(target: TargetRecord): readonly { readonly probed: Probed; readonly item: ProbeRecord }[];
  /** When LAYOUT last had another version. */
  laidOutMs(): number;
  /** The true time, ms since the epoch. */
  wallMs(): number;
  /** When something last changed that decides whether the target is probed: spec, containers, hold, startup verdict. */
  disturbedMs(uid: string): number;
};

export function ledgerOf(table: Table, nowMs: () => number): Ledger {
  const tokens = new Map<string, number>();
  /** Runs that continue each other warm: by token the first token of its row, and by that the last one. */
  const firstOf = new Map<number, number>();
  const lastOf = new Map<number, number>();
  const endpoints = new Map<Endpoint, Probed>();
  const byItem = new Map<string, Endpoint>();
  const thresholds = new Map<Endpoint, readonly Threshold[]>();
  const probeWritten = new Map<string, number>();
  const targets = new Map<string, TargetRecord>();
  const disturbed = new Map<string, number>();
  let laidOutMs = 0;

  const forget = (old: TargetRecord) => {
    targets.delete(old.uid);
    const address = targetAddress(old.namespace, old.name);
    for (const { endpoint, probe } of endpointsIn(old)) {
      endpoints.delete(endpoint);
      byItem.delete(probeKey(address, probe.name).sk);
    }
  };

  const readTarget = ({ before, after }: Change, timeMs: number) => {
    if (before) forget(before as unknown as TargetRecord);
    if (!after) return;
    const target = after as unknown as TargetRecord;
    targets.set(target.uid, target);
    const address = targetAddress(target.namespace, target.name);
    for (const { endpoint, probe } of endpointsIn(target)) {
      const key = probeKey(address, probe.name);
      endpoints.set(endpoint, { address, uid: target.uid, name: probe.name, probe, key });
      byItem.set(key.sk, endpoint);
      const { successThreshold: success, failureThreshold: failure } = probe.probe;
      const known = thresholds.get(endpoint) ?? [];
      const recent = known.filter((_, index) => timeMs - (known[index + 1]?.sinceMs ?? timeMs) < specLagMs);
      thresholds.set(endpoint, [...recent, { sinceMs: timeMs, success, failure }]);
    }
  };

  const followRun = (
    { before, after }: Change,
    { writer, operations }: Pick<AppliedWrite, 'writer' | 'operations'>,
  ) => {
    const token = Number(after?.token);
    if (isRun(writer)) tokens.set(writer, token);
    const last = Number(before?.token);
    if (last === token || !isWarmClaim(operations, last)) return;
    const first = firstOf.get(last) ?? last;
    firstOf.set(token, first);
    lastOf.set(first, token);
  };

  const ledger: Ledger = {
    applied({ timeMs, writer, operations, changes }) {
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (isDisturbance(kind, change)) disturbed.set(String((change.after ?? change.before)?.uid), timeMs);
        if (kind === 'TARGET') readTarget(change, timeMs);
        if (kind === 'LAYOUT' && change.before?.version !== change.after?.version) laidOutMs = timeMs;
        if (kind === 'PROBE') probeWritten.set(change.key.sk, timeMs);
        if (isOfRun(change)) followRun(change, { writer, operations });
      }
    },
    laidOutMs: () => laidOutMs,
    tokenOf: (writer) => tokens.get(writer),
    epochOf(bucket) {
      const token = table.get(epochKey(bucket))?.token as number | undefined;
      return token === undefined ? undefined : (lastOf.get(firstOf.get(token) ?? token) ?? token);
    },
    probedAt: (endpoint) => endpoints.get(endpoint),
    endpointOf: ({ sk }) => byItem.get(sk),
    thresholdOf: (endpoint, result) => Math.min(...(thresholds.get(endpoint) ?? []).map((one) => one[result])),
    probeWrittenMs: (probed) => probeWritten.get(keyOf(probed).sk) ?? 0,
    probeItem: (probed) => table.get(keyOf(probed)) as (Item & ProbeRecord) | undefined,
    targets: () => targets.values(),
    targetOf: (uid) => targets.get(uid),
    probesOf: (target) =>
      endpointsIn(target).flatMap(({ endpoint }) => {
        const probed = endpoints.get(endpoint);
        const item = probed && ledger.probeItem(probed);
        return probed && item ? [{ probed, item }] : [];
      }),
    wallMs: () => worldStartMs + nowMs(),
    disturbedMs: (uid) => disturbed.get(uid) ?? 0,
  };
  return ledger;
}

type Threshold = { readonly sinceMs: number; readonly success: number; readonly failure: number };

/** How long a holder may still go by the spec before. */
const specLagMs = 120_000;

function isDisturbance(kind: string, { before, after }: Change): boolean {
  switch (kind) {
    case 'TARGET':
    case 'REPORT':
      return true;
    case 'PROBE':
      return (
        before?.onHold !== after?.onHold ||
        before?.containerID !== after?.containerID ||
        before?.ended !== after?.ended ||
        (after?.probeType === 'startup' && before?.result !== after.result)
      );
    default:
      return false;
  }
}

/** A claim of RUN on the sole condition that it still has the token that the same process set. */
const isWarmClaim = ([claim, ...others]: readonly Operation[], token: unknown): boolean =>
  others.length === 0 &&
  claim?.kind === 'update' &&
  JSON.stringify(claim.if) === JSON.stringify([{ kind: 'equals', attribute: 'token', value: token }]);

/** A run names itself `<process>.<life>/<run>`; everybody else has no run. */
export const isRun = (writer: string): boolean => writer.includes('/');

function endpointsIn(target: TargetRecord): readonly { readonly endpoint: Endpoint; readonly probe: SpecProbe }[] {
  return specProbes(target.spec).flatMap((probe) => {
    const { httpGet, tcpSocket, grpc } = probe.probe;
    const port = httpGet?.port ?? tcpSocket?.port ?? grpc?.port;
    return port === undefined ? [] : [{ endpoint: `${target.spec.host}:${port}`, probe }];
  });
}
