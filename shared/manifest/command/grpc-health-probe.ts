/** The options of grpc_health_probe whose meaning for a probe is known. */
import { portMax, serviceLengthMax } from '../../core/spec/limits.ts';
import { given as withoutAbsent } from '../values.ts';
import { type Option, readOptions, valuesOf } from './options.ts';
import { asks, type Reading, runs, shown } from './reading.ts';

export type GrpcMeaning = 'address' | 'service' | 'output' | 'time';

const duration = /^(\d{1,6}(\.\d{1,3})?(ms|s|m))+$/;

export const grpcOptions: readonly Option<GrpcMeaning>[] = [
  { names: ['-addr'], value: /^/, means: 'address' },
  { names: ['-service'], value: /^[ -~]*$/, means: 'service' },
  { names: ['-connect-timeout'], value: duration, means: 'time' },
  { names: ['-rpc-timeout'], value: duration, means: 'time' },
  { names: ['-v'], means: 'output' },
];

export function grpcHealthProbe(args: readonly string[], names: readonly string[]): Reading {
  const options = readOptions(args, grpcOptions, 'go');
  if (options.kind === 'unknown') return runs(options.reason);
  const [address = ''] = valuesOf(options.given, 'address');
  const [service = ''] = valuesOf(options.given, 'service');
  if (options.operands.length > 0) return runs(`the meaning of ${shown(options.operands[0] ?? '')} is not known`);
  const [, host = '', port = ''] = /^(\[::1\]|[A-Za-z0-9._-]*):([1-9]\d{0,4})$/.exec(address) ?? [];
  if (port === '' || Number(port) > portMax) return runs(`${shown(address)} is no host with a port`);
  if (host !== '' && !names.includes(host)) return runs(`${shown(host)} is another host`);
  if (service.length > serviceLengthMax) return runs('its service has a name that is too long');
  const handler = withoutAbsent({ port: Number(port), service: service === '' ? undefined : service });
  // Without the options it waits for a second each.
  return asks({ grpc: handler }, ['time']);
}
