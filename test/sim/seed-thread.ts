/** A thread that simulates the seeds it receives, one after the other. */
import { parentPort } from 'node:worker_threads';
import type { SeedOrder } from './seed-threads.ts';
import { simulate } from './simulate.ts';

parentPort?.on('message', async (order: SeedOrder) => parentPort?.postMessage(await simulate(order)));
