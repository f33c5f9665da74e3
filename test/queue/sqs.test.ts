import { after, before } from 'node:test';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { sqsQueue } from '../../shared/queue/sqs.ts';
import { contractVisibilityMs, queueContract } from '../contract/queue.ts';
import { createQueue, type Ministack, ministackSqs, startMinistack } from '../support/ministack.ts';
import { pythonPrograms } from '../support/python-programs.ts';

pythonPrograms();

let ministack: Ministack;
let client: ReturnType<typeof ministackSqs>;
let queues = 0;

before(async () => {
  ministack = await startMinistack();
  client = ministackSqs(ministack.endpoint);
});
after(async () => {
  client?.destroy();
  await ministack?.stop();
});

queueContract('SQS', {
  async open() {
    queues += 1;
    const queueUrl = await createQueue(client, `contract-${queues}`);
    const ports = { client, queueUrl, clock: systemClock, random: systemRandom };
    return {
      queue: sqsQueue({ ...ports, visibilityMs: contractVisibilityMs }),
      play: (promise) => promise,
      pass: (ms) => sleep(systemClock, ms),
    };
  },
  concurrency: 20,
});
