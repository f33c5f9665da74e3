/** The thread in which a changed configuration is parsed: a large one takes longer than a probe may wait. */
import { parentPort } from 'node:worker_threads';
import { parseConfig } from '../../../shared/config/read-config.ts';
import { giveWay } from './give-way.ts';

// A text full of mistakes has an error for each, and a stack trace takes longer than what it is about.
Error.stackTraceLimit = 0;
giveWay();

parentPort?.on('message', (text: string) => parentPort?.postMessage(parseConfig(text)));
