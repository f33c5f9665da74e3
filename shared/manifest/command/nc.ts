/** The options of nc, in its versions of OpenBSD, BusyBox and Nmap, whose meaning for a probe is known. */
import { portMax } from '../../core/spec/limits.ts';
import { isGiven, type Option, readOptions } from './options.ts';
import { asks, type Reading, runs, shown } from './reading.ts';

export type NcMeaning = 'connect' | 'output' | 'numeric' | 'time';

export const ncOptions: readonly Option<NcMeaning>[] = [
  { names: ['-z'], means: 'connect' },
  { names: ['-v'], means: 'output' },
  { names: ['-n'], means: 'numeric' },
  { names: ['-w'], value: /^[1-9]\d{0,4}$/, means: 'time' },
];

export function nc(args: readonly string[], names: readonly string[]): Reading {
  const options = readOptions(args, ncOptions, 'gnu');
  if (options.kind === 'unknown') return runs(options.reason);
  const { given, operands } = options;
  const [host = '', port = ''] = operands;
  if (operands.length !== 2 || args.slice(-2).join() !== operands.join())
    return runs('its host and port are not its last two words');
  const isNumeric = isGiven(given, 'numeric');
  if (!isGiven(given, 'connect')) return runs('without "-z" it sends and reads');
  if (![...names, '::1'].includes(host) || host.startsWith('[')) return runs(`${shown(host)} is another host`);
  if (isNumeric && !/^[\d.]+$|:/.test(host)) return runs(`"-n" refuses ${shown(host)}`);
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > portMax) return runs(`${shown(port)} is no single port`);
  return asks({ tcpSocket: { port: Number(port) } }, isGiven(given, 'time') ? ['time'] : []);
}
