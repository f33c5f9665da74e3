/** What the watchdog's thread does in a process that shares a DynamoDB table: it counts the hang there, by a loop of its own. */
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { rememberHang as rememberIn } from '../../shared/manager/hung-probe.ts';
import { dynamodbStore } from '../../shared/store/dynamodb.ts';
import { dynamodbClient } from '../../shared/store/dynamodb-client.ts';

/** Absent region and endpoint: the environment's. */
export type RememberConfig = {
  readonly table: string;
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
};

/** @throws StoreUnavailable when the table is out of reach. */
export async function rememberHang(name: string, { table, region, endpoint }: RememberConfig): Promise<void> {
  const client = dynamodbClient({ ...(region && { region }), ...(endpoint && { endpoint }) });
  const ports = { clock: systemClock, random: systemRandom };
  const store = dynamodbStore({ ...ports, client, tableName: table });
  await rememberIn({ ...ports, store }, name, systemClock.nowMs());
}
