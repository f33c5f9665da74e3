/**
 * What somebody outside can know of the product by reading its table's history: which run took which token, which target is at which
 * address, which probe has which item. Every checker reads it; none looks into a process.
 */
import type { ProbeRecord, TargetRecord } from '../../shared/core/records.ts';
import { type ProbeName, type SpecProbe, specProbes } from '../../shared/core/spec.ts';
import { epochKey, probeKey, type TargetAddress, targetAddress } from '../../shared/store/keys.ts';
import type { Item } from '../../shared/store/store.ts';
import type { Endpoint } from './network.ts';
import { keyKind } from './store.ts';
import type { AppliedWrite, Change, Table } from './table.ts';

/** Whose probe an endpoint is. */
export type Probed = {
  readonly address: TargetAddress;
  readonly uid: string;
  readonly name: ProbeName;
  readonly probe: SpecProbe;
};

export type Ledger = {
  /** To be told first of every write. */
  applied(write: AppliedWrite): void;
  /** The token that this run took, once it has claimed with it. */
  tokenOf(writer: string): number | undefined;
  /** The token that stands in the bucket's EPOCH. */
  epochOf(bucket: string): number | undefined;
  probedAt(endpoint: Endpoint): Probed | undefined;
  probeItem(probed: Pick<Probed, 'address' | 'name'>): ProbeRecord | undefined;
  targets(): Iterable<TargetRecord>;
};

export function ledgerOf(table: Table): Ledger {
  const tokens = new Map<string, number>();
  const endpoints = new Map<Endpoint, Probed>();
  const targets = new Map<string, TargetRecord>();

  const readTarget = ({ before, after }: Change) => {
    const old = before as TargetRecord | undefined;
    const target = after as TargetRecord | undefined;
    if (old) for (const { endpoint } of endpointsIn(old)) endpoints.delete(endpoint);
    if (old) targets.delete(old.uid);
    if (!target) return;
    targets.set(target.uid, target);
    const address = targetAddress(target.namespace, target.name);
    for (const { endpoint, probe } of endpointsIn(target))
      endpoints.set(endpoint, { address, uid: target.uid, name: probe.name, probe });
  };

  return {
    applied({ writer, changes }) {
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (kind === 'TARGET') readTarget(change);
        if (kind === 'RUN' && isRun(writer)) tokens.set(writer, Number(change.after?.token));
      }
    },
    tokenOf: (writer) => tokens.get(writer),
    epochOf: (bucket) => table.get(epochKey(bucket))?.token as number | undefined,
    probedAt: (endpoint) => endpoints.get(endpoint),
    probeItem: ({ address, name }) => table.get(probeKey(address, name)) as (Item & ProbeRecord) | undefined,
    targets: () => targets.values(),
  };
}

/** A run names itself `<process>.<life>/<run>`; everybody else has no run. */
export const isRun = (writer: string): boolean => writer.includes('/');

function endpointsIn(target: TargetRecord): readonly { readonly endpoint: Endpoint; readonly probe: SpecProbe }[] {
  return specProbes(target.spec).flatMap((probe) => {
    const { httpGet, tcpSocket, grpc } = probe.probe;
    const port = httpGet?.port ?? tcpSocket?.port ?? grpc?.port;
    return port === undefined ? [] : [{ endpoint: `${target.spec.host}:${port}`, probe }];
  });
}
