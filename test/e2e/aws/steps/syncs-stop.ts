/** The mapping of status-sync is disabled: no status takes in what changes, and the metric of an alarm says so. */
import assert from 'node:assert/strict';
import { type Figure, judged } from '../../../support/figures.ts';
import { until } from '../../../support/wait.ts';
import { type Cloud, functionParts, untilReady } from '../cloud.ts';
import type { LogLine } from '../emulator.ts';
import { namespace, type Shop } from './shop.ts';

const place = { namespace, name: 'leaving' };
/** Two reports of three, one a minute, above this value raise the alarm (cdk/alarms.ts). */
const alarm = { threshold: 1, reports: 2, withinMs: 180_000 };
const noticedMs = 20_000;

type Mapping = { readonly UUID: string; readonly FunctionArn: string };

export async function syncsStop(cloud: Cloud, { leaving }: Shop): Promise<readonly Figure[]> {
  const mapping = await mappingOf(cloud, functionParts.statusSync);
  await enable(cloud, mapping, false);
  const stoppedMs = Date.now();
  await leaving.stop();
  const reports = await until('the alarm would be raised', alarm.withinMs + noticedMs, () => {
    const breaching = cloud.emulator.log(functionParts.prober).filter((line) => isBreaching(line, stoppedMs));
    return breaching.length >= alarm.reports && breaching;
  });
  const raisedMs = timeOf(reports[alarm.reports - 1] ?? {}) - stoppedMs;
  await enable(cloud, mapping, true);
  await untilReady(cloud, place, 'False', noticedMs);
  await leaving.start();
  await untilReady(cloud, place, 'True', noticedMs);
  const limit = `≤ ${alarm.withinMs / 1_000} s`;
  return [
    judged('StatusBehind raises its alarm after', `${(raisedMs / 1_000).toFixed(0)} s`, {
      limit,
      holds: raisedMs <= alarm.withinMs,
    }),
  ];
}

const isBreaching = (line: LogLine, sinceMs: number): boolean =>
  timeOf(line) > sinceMs && Number(line.StatusBehind) >= alarm.threshold;

const timeOf = ({ _aws: own }: LogLine): number => (own as { readonly Timestamp: number } | undefined)?.Timestamp ?? 0;

async function mappingOf({ send, emulator }: Cloud, part: string): Promise<Mapping> {
  const url = `${emulator.endpoint}/2015-03-31/event-source-mappings`;
  const { text } = await send({ service: 'lambda', method: 'GET', url });
  const mappings: readonly Mapping[] = JSON.parse(text).EventSourceMappings;
  const found = mappings.find(({ FunctionArn }) => FunctionArn.includes(part));
  assert.ok(found, text);
  return found;
}

async function enable({ send, emulator }: Cloud, { UUID }: Mapping, Enabled: boolean): Promise<void> {
  const url = `${emulator.endpoint}/2015-03-31/event-source-mappings/${UUID}`;
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await send({
    service: 'lambda',
    method: 'PUT',
    url,
    headers,
    body: JSON.stringify({ Enabled }),
  });
  assert.ok(status < 300, text);
}
