/** The entry of the status-sync function: a batch of events of the bus a call. */
import { readEnvironment } from '../lambda/environment.ts';
import { functionPorts } from '../lambda/ports.ts';
import { statusSyncFunction } from './status-sync.ts';

export const handler = statusSyncFunction(functionPorts('status-sync', readEnvironment(['table', 'bus', 'stage'])));
