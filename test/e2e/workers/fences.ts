/**
 * Holds every fenced write that the table took against the tokens: once it has taken one of a higher token in a bucket, none of a lower
 * one may be taken that was sent after. Seen where an outsider sees it, at the proxies between the workers and the table.
 */
import type { Forwarded } from '../../support/fault-proxy.ts';

export type FencedWrite = {
  readonly worker: string;
  readonly token: number;
  readonly sentAtMs: number;
};

export type Fences = {
  see(worker: string, forwarded: Forwarded): void;
  /** Fenced writes that were taken. */
  taken(): number;
  /** Of this worker, sent since. */
  takenOf(worker: string, sinceMs: number): readonly FencedWrite[];
  violations(): readonly string[];
};

type TransactItem = {
  readonly ConditionCheck?: {
    readonly Key: { readonly pk: { readonly S: string }; readonly sk: { readonly S: string } };
    readonly ExpressionAttributeValues?: { readonly [name: string]: { readonly N?: string } };
  };
};

/** Writes remembered to be asked for by worker. */
const rememberedMax = 20_000;

export function fenceKeeper(): Fences {
  const highest = new Map<string, { readonly token: number; readonly answeredAtMs: number }[]>();
  const remembered: FencedWrite[] = [];
  const violations: string[] = [];
  let taken = 0;
  return {
    see(worker, { call, answer, sentAtMs, answeredAtMs }) {
      if (call.operation !== 'TransactWriteItems' || answer.status !== 200) return;
      const { TransactItems } = JSON.parse(call.body) as { readonly TransactItems: readonly TransactItem[] };
      for (const { bucket, token } of TransactItems.flatMap(fenceOf)) {
        taken += 1;
        remembered.push({ worker, token, sentAtMs });
        const steps = highest.get(bucket) ?? [];
        highest.set(bucket, steps);
        const higher = steps.find((step) => step.token > token && step.answeredAtMs < sentAtMs);
        if (higher) violations.push(`${worker} committed in ${bucket} with token ${token} after ${higher.token}`);
        if ((steps.at(-1)?.token ?? -1) < token) steps.push({ token, answeredAtMs });
      }
      if (remembered.length > rememberedMax) remembered.splice(0, rememberedMax / 2);
    },
    taken: () => taken,
    takenOf: (worker, sinceMs) => remembered.filter((write) => write.worker === worker && write.sentAtMs >= sinceMs),
    violations: () => violations,
  };
}

function fenceOf({
  ConditionCheck: check,
}: TransactItem): readonly { readonly bucket: string; readonly token: number }[] {
  if (check?.Key.sk.S !== 'EPOCH') return [];
  const token = Object.values(check.ExpressionAttributeValues ?? {}).find(({ N }) => N !== undefined)?.N;
  return [{ bucket: check.Key.pk.S, token: Number(token) }];
}
