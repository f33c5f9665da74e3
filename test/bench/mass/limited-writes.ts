/**
 * DynamoDB Local takes whatever comes. A script for the proxy in front of it lets through so many write units a second,
 * and throttles what exceeds them before it is executed, as a table does.
 */
import { cancelled, throttled } from '../../support/dynamodb-answers.ts';
import type { ProxiedCall, Script } from '../../support/fault-proxy.ts';
import { tokenBucket } from '../../support/token-bucket.ts';

/** Of what is not used. A busy table has no more. */
const savedSeconds = 5;
const unitBytes = 1_024;

export type LimitedWrites = {
  readonly script: Script;
  /** Units of what was let through, and calls. */
  readonly counts: { units: number; written: number; throttled: number };
};

export function limitedWrites(unitsPerSecond: number): LimitedWrites {
  const bucket = tokenBucket({ unitsPerSecond, savedSeconds }, () => performance.now());
  const counts = { units: 0, written: 0, throttled: 0 };
  const script: Script = (call) => {
    const units = unitsOf(call);
    if (units.length === 0) return { kind: 'pass' };
    if (bucket.isEmpty()) {
      counts.throttled += 1;
      const answer = call.operation === transaction ? cancelled(units.map(() => 'ThrottlingError')) : throttled;
      return { kind: 'answer', answer };
    }
    const all = units.reduce((sum, each) => sum + each, 0);
    bucket.take(all);
    counts.units += all;
    counts.written += 1;
    return { kind: 'pass' };
  };
  return { script, counts };
}

const transaction = 'TransactWriteItems';
const singles: ReadonlySet<string> = new Set(['PutItem', 'UpdateItem', 'DeleteItem']);

/** Of each operation: one for each begun kilobyte of what is sent, twice as many in a transaction. Empty: no write. */
function unitsOf({ operation, body }: ProxiedCall): readonly number[] {
  if (singles.has(operation)) return [unitsOfBytes(body.length)];
  if (operation !== transaction) return [];
  const { TransactItems }: { readonly TransactItems: readonly object[] } = JSON.parse(body);
  return TransactItems.map((one) => 2 * unitsOfBytes(JSON.stringify(one).length));
}

const unitsOfBytes = (bytes: number): number => Math.ceil(bytes / unitBytes);
