/**
 * Records a hang in the DynamoDB table of a process that shares one. It runs in the watchdog's thread, which has a
 * separate event loop.
 */

import { rememberHang as rememberIn } from '../../shared/holder/probing/hung-probe.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { dynamodbClient } from '../../shared/store/dynamodb/client.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import { patientStore } from '../../shared/store/throttled.ts';

/** Region and endpoint default to the environment's. */
export type RememberConfig = {
  readonly table: string;
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
};

/** @throws StoreUnavailable if the table cannot be reached. */
export async function rememberHang(name: string, { table, region, endpoint }: RememberConfig): Promise<void> {
  const client = dynamodbClient({ ...(region && { region }), ...(endpoint && { endpoint }) });
  const ports = { clock: systemClock, random: systemRandom };
  const store = patientStore(dynamodbStore({ ...ports, client, tableName: table }), ports);
  await rememberIn({ ...ports, store }, name, systemClock.nowMs());
}
