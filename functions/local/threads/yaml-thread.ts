/** The thread in which YAML of clients is parsed: the largest body takes far longer than a probe may wait. */
import { parentPort } from 'node:worker_threads';
import { parseYaml } from '../../../shared/api/http/yaml.ts';
import { giveWay } from './give-way.ts';

// A text full of mistakes has an error for each, and a stack trace takes longer than what it is about.
Error.stackTraceLimit = 0;
giveWay();

parentPort?.on('message', (text: string) => parentPort?.postMessage(parseYaml(text)));
