import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BusEvent } from '../../shared/bus/events.ts';
import { publishOutbox } from '../../shared/manager/outbox.ts';
import { targetRecordOf } from '../support/pods.ts';
import { recordingLog } from '../support/recording-log.ts';

const wellFormed = {
  id: 'restart-1',
  detailType: 'Container Restart Requested',
  timeMs: 1,
  detail: {
    container: 'app',
    containerID: 'test://1',
    probeType: 'liveness',
    message: 'Container app failed liveness probe',
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
  },
};

test('an outbox entry that has not the form of its event is logged and blocks none of the others', async () => {
  const log = recordingLog();
  const published: BusEvent[] = [];
  const bus = {
    async publish(events: readonly BusEvent[]) {
      published.push(...events);
      return { failed: [] };
    },
  };
  const malformed = [
    { ...wellFormed, id: 'of-no-type', detailType: 'Container Danced' },
    { ...wellFormed, id: 'of-no-form', detail: { container: 7 } },
  ];
  assert.equal(await publishOutbox({ bus, log }, targetRecordOf(), [...malformed, wellFormed]), 'published');
  assert.deepEqual(
    published.map(({ detail }) => 'id' in detail && detail.id),
    ['restart-1'],
  );
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields?.id]),
    [
      ['error', 'of-no-type'],
      ['error', 'of-no-form'],
    ],
  );
});
