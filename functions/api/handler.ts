/** The entry point of the API function. Each invocation handles one request to the HTTP API. */
import { storedQuotas } from '../../shared/table/quotas.ts';
import { emulatorStage, readEnvironment } from '../lambda/environment.ts';
import { commonSettings, functionPorts } from '../lambda/ports.ts';
import { apiFunction, deployedAdvise } from './api.ts';

const environment = readEnvironment([
  ...commonSettings,
  ...(['quotas'] as const),
  ...(['allowCidrs', 'allowLoopback', 'execNames', 'execSsm', 'secretHosts'] as const),
]);
const ports = functionPorts('api', environment);

export const handler = apiFunction({
  ...ports,
  advise: deployedAdvise(environment),
  quotas: storedQuotas(environment.quotas, ports),
  anonymous: environment.stage === emulatorStage,
});
