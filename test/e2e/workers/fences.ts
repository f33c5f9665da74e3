/**
 * Compares every fenced write that the table accepted with the tokens: once a bucket has been claimed or written with a
 * higher token, no later write with a lower one may be accepted, and no result may change without a fence. It observes
 * the proxies between the workers and the table.
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

type Key = { readonly pk: { readonly S: string }; readonly sk: { readonly S: string } };

type Expressed = {
  readonly Key: Key;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: { readonly [placeholder: string]: string };
  readonly ExpressionAttributeValues?: { readonly [placeholder: string]: { readonly N?: string } };
};

type TransactItem = { readonly Update?: Expressed; readonly ConditionCheck?: Expressed };

/** A bucket's key and a token. */
type Fence = { readonly bucket: string; readonly token: number };

/** How many writes are kept for `takenOf`. */
const rememberedMax = 20_000;

export function fenceKeeper(): Fences {
  /** By bucket, ascending. */
  const known = new Map<string, { readonly token: number; readonly sinceMs: number }[]>();
  const remembered: FencedWrite[] = [];
  const violations: string[] = [];
  /** Tokens of accepted transactions; a repeated one is answered as before, and nothing is written. */
  const repeated = new Set<string>();
  let taken = 0;

  const learn = ({ bucket, token }: Fence, sinceMs: number) => {
    const tokens = known.get(bucket) ?? [];
    known.set(bucket, tokens);
    if ((tokens.at(-1)?.token ?? -1) < token) tokens.push({ token, sinceMs });
  };
  const check = (worker: string, { bucket, token }: Fence, sentAtMs: number) => {
    taken += 1;
    remembered.push({ worker, token, sentAtMs });
    if (remembered.length > rememberedMax) remembered.splice(0, rememberedMax / 2);
    const higher = known.get(bucket)?.find((each) => each.token > token && each.sinceMs < sentAtMs);
    if (higher) violations.push(`${worker} wrote in ${bucket} with token ${token} after ${higher.token}`);
  };
  const isRepeated = (body: string): boolean => {
    const token = /"ClientRequestToken":"([^"]+)"/.exec(body)?.[1];
    if (token === undefined) return false;
    if (repeated.has(token)) return true;
    repeated.add(token);
    return false;
  };
  return {
    see(worker, { call, answer, sentAtMs, answeredAtMs }) {
      if (answer.status !== 200 || isRepeated(call.body)) return;
      const items = itemsOf(call.operation, call.body);
      const fences = fencesOf(items);
      for (const fence of fences) check(worker, fence, sentAtMs);
      for (const fence of [...items.flatMap(claimOf), ...fences]) learn(fence, answeredAtMs);
      const unfenced = items.find((item) => changesUnfenced(item, fences));
      if (unfenced) violations.push(`${worker} changed ${unfenced.Update?.Key.sk.S} without a fence`);
    },
    taken: () => taken,
    takenOf: (worker, sinceMs) => remembered.filter((write) => write.worker === worker && write.sentAtMs >= sinceMs),
    violations: () => violations,
  };
}

function itemsOf(operation: string, body: string): readonly TransactItem[] {
  switch (operation) {
    case 'TransactWriteItems':
      return (JSON.parse(body) as { readonly TransactItems: readonly TransactItem[] }).TransactItems;
    case 'UpdateItem':
      return [{ Update: JSON.parse(body) as Expressed }];
    default:
      return [];
  }
}

/** A check of EPOCH, or its update beside other writes, by a run that claims on write. */
function fencesOf(items: readonly TransactItem[]): readonly Fence[] {
  const isClaim = items.every(({ Update: update }) => update?.Key.sk.S === 'EPOCH');
  return items.flatMap((item) => {
    const { ConditionCheck: check } = item;
    if (check?.Key.sk.S !== 'EPOCH') return isClaim ? [] : claimOf(item);
    const token = Object.values(check.ExpressionAttributeValues ?? {}).find(({ N }) => N !== undefined)?.N;
    return [{ bucket: check.Key.pk.S, token: Number(token) }];
  });
}

function claimOf({ Update: update }: TransactItem): readonly Fence[] {
  if (update?.Key.sk.S !== 'EPOCH') return [];
  const [name] = Object.entries(update.ExpressionAttributeNames ?? {}).find(([, each]) => each === 'token') ?? [];
  const value = new RegExp(`${name} = (:\\w+)`).exec(update.UpdateExpression ?? '')?.[1] ?? '';
  const token = update.ExpressionAttributeValues?.[value]?.N;
  return token === undefined ? [] : [{ bucket: update.Key.pk.S, token: Number(token) }];
}

const changesUnfenced = ({ Update: update }: TransactItem, fences: readonly Fence[]): boolean =>
  update?.Key.sk.S.includes('#PROBE#') === true && !fences.some(({ bucket }) => bucket === update.Key.pk.S);
