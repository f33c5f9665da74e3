/**
 * The prober as a task: receives the messages that the prober function receives, and holds one shard at a time. It is
 * the same run with the same fence, so functions and tasks may share a queue.
 */

import { hostShards } from '../../shared/holder/host.ts';
import type { SqsQueue } from '../../shared/queue/sqs.ts';
import { newProcess, type ProberFunctionPorts, reportedRuns } from './prober.ts';

/** The layout makes shards for one vCPU, which is all that an event loop can use. */
const concurrency = 1;

export type ProberTask = {
  /** Hands the shard over, and resolves when that is done and no poll is open. */
  stop(): Promise<void>;
};

export function proberTask(ports: ProberFunctionPorts, receiver: Pick<SqsQueue, 'receive' | 'settled'>): ProberTask {
  const stop = new AbortController();
  const { clock, log } = ports;
  const { portsFor, runShard } = reportedRuns(ports, newProcess(ports));
  const runs = hostShards({
    ...{ clock, log, receiver, concurrency, stop: stop.signal },
    // A task asks for no second look; it gives one if it is free.
    portsFor(lease) {
      const { secondPlace: _, ...own } = portsFor(lease);
      return own;
    },
    runShard,
  });
  return {
    async stop() {
      stop.abort();
      await runs;
      await receiver.settled();
    },
  };
}
