/** The entry of the API function: a request to the HTTP API a call. */
import { emulatorStage, readEnvironment } from '../lambda/environment.ts';
import { functionPorts } from '../lambda/ports.ts';
import { apiFunction } from './api.ts';

const environment = readEnvironment(['table', 'bus', 'stage']);

export const handler = apiFunction({
  ...functionPorts('api', environment),
  anonymous: environment.stage === emulatorStage,
});
