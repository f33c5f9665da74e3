/** The entry of the API function: a request to the HTTP API a call. */
import { storedQuotas } from '../../shared/manager/quotas.ts';
import { emulatorStage, readEnvironment } from '../lambda/environment.ts';
import { functionPorts } from '../lambda/ports.ts';
import { apiFunction } from './api.ts';

const environment = readEnvironment(['table', 'bus', 'stage', 'quotas']);
const ports = functionPorts('api', environment);

export const handler = apiFunction({
  ...ports,
  quotas: storedQuotas(environment.quotas, ports),
  anonymous: environment.stage === emulatorStage,
});
