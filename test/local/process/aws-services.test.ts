/** What a process that shares AWS services opens, as its options say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AwsOptions } from '../../../functions/local/options/options.ts';
import { awsServices } from '../../../functions/local/process/aws-services.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { recordingLog } from '../../support/recording-log.ts';

const options: AwsOptions = {
  table: 'targets',
  queueUrl: 'http://127.0.0.1:9/000000000000/shards.fifo',
  region: 'eu-central-1',
  endpoints: { dynamodb: 'http://127.0.0.1:9', sqs: 'http://127.0.0.1:9', eventbridge: 'http://127.0.0.1:9' },
};

for (const bus of ['probelet', undefined])
  test(`events go to ${bus ? 'the bus that is named' : 'status-sync only, without a bus'}`, () => {
    const ports = { clock: systemClock, random: systemRandom, log: recordingLog() };
    const services = awsServices({ ...options, ...(bus && { bus }) }, ports);
    assert.equal(services.bus !== undefined, bus !== undefined);
    services.close();
  });
