/** The entry point of the status-sync function. Each invocation handles a batch of bus events. */
import { readEnvironment } from '../lambda/environment.ts';
import { commonSettings, functionPorts } from '../lambda/ports.ts';
import { statusSyncFunction } from './status-sync.ts';

export const handler = statusSyncFunction(functionPorts('status-sync', readEnvironment(commonSettings)));
