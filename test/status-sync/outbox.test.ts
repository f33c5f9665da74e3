import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Bus } from '../../shared/bus/bus.ts';
import type { BusEvent } from '../../shared/bus/events.ts';
import type { OutboxEvent } from '../../shared/core/spec/records.ts';
import { initialStatus } from '../../shared/core/status/target-status.ts';
import type { Json } from '../../shared/lib/json.ts';
import { publishOutbox } from '../../shared/status-sync/outbox.ts';
import { decodeStatus, encodeStatus } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { targetRecordOf } from '../support/pods.ts';
import { recordingLog } from '../support/recording-log.ts';

const requestOf = (incarnation: number): OutboxEvent => ({
  id: `u1/app/restart/${incarnation}`,
  detailType: 'Container Restart Requested',
  timeMs: incarnation,
  detail: {
    container: 'app',
    containerID: `test://${incarnation}`,
    probeType: 'liveness',
    message: 'Container app failed liveness probe, will be restarted',
    attempt: 1,
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
  },
});

/** The outbox that is decoded from a STATUS item with this one. */
function storedOutbox(outbox: readonly Json[]): readonly OutboxEvent[] {
  const status = encodeStatus(targetAddress('default', 'shop'), initialStatus(targetRecordOf(), 0));
  const decoded = decodeStatus({ ...status, outbox });
  assert.ok(decoded.kind === 'ok');
  return decoded.record.outbox;
}

/** The outcome for an outbox of two requests at a bus that answers like this, and the events that the bus got. */
async function published(
  answer: Awaited<ReturnType<Bus['publish']>>,
  outbox: readonly OutboxEvent[] = [requestOf(1), requestOf(2)],
) {
  const given: BusEvent[] = [];
  const log = recordingLog();
  const bus: Bus = {
    async publish(events) {
      given.push(...events);
      return answer;
    },
  };
  const outcome = await publishOutbox({ bus, log }, targetRecordOf(), outbox);
  return { outcome, ids: given.map(({ detail }) => detail.id), log };
}

describe('an outbox', () => {
  test('is published when the bus has taken every event', async () => {
    const { outcome, ids } = await published({ failed: [] });
    assert.deepEqual([outcome, ids], ['published', ['u1/app/restart/1', 'u1/app/restart/2']]);
  });

  test('is not published while one of its events was not taken', async () => {
    assert.equal((await published({ failed: [1] })).outcome, 'incomplete');
    assert.equal((await published({ failed: [0, 1], denied: true })).outcome, 'denied');
  });

  test('is not blocked by an event that no longer has its form', async () => {
    const outbox = storedOutbox([{ ...requestOf(1), detail: {} }, requestOf(2)]);
    const { outcome, ids, log } = await published({ failed: [] }, outbox);
    assert.deepEqual([outcome, ids], ['published', ['u1/app/restart/2']]);
    const logged = log.lines.map(({ level, fields }) => [level, fields]);
    assert.deepEqual(logged, [['error', { id: 'u1/app/restart/1', detailType: 'Container Restart Requested' }]]);
  });

  test('still names an event that cannot be read after it has been stored again', () => {
    const once = storedOutbox([{ id: 'u1/later', detailType: 'A Later Kind', timeMs: 1, detail: { a: 1 } }]);
    assert.deepEqual(once, [{ id: 'u1/later', detailType: 'Unreadable', timeMs: 1, storedType: 'A Later Kind' }]);
    assert.deepEqual(storedOutbox(once), once);
  });
});
