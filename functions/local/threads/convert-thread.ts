/** The thread in which files of targets are converted. */
import { parentPort } from 'node:worker_threads';
import { type AskedFile, targetsIn } from '../config/file-targets.ts';
import { giveWay } from './give-way.ts';

giveWay();

parentPort?.on('message', (asked: AskedFile) => parentPort?.postMessage(targetsIn(asked)));
