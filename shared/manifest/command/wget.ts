/** The options of GNU wget, and of BusyBox's, whose meaning for a probe is known. */
import { httpReading } from './http-request.ts';
import { isGiven, type Option, readOptions, valuesOf } from './options.ts';
import { type Difference, type Reading, runs } from './reading.ts';

/** `output`: it decides only what is printed. */
export type WgetMeaning =
  | ('output' | 'discard' | 'header' | 'userAgent' | 'ipv4' | 'insecure' | 'noEffect' | 'tries')
  | ('method' | 'time' | 'retries' | 'certificate');

const duration = /^\d{1,6}(\.\d{1,3})?$/;

export const wgetOptions: readonly Option<WgetMeaning>[] = [
  { names: ['-q', '--quiet'], means: 'output' },
  { names: ['-n'], value: /^v$/, means: 'output' },
  { names: ['--no-verbose'], means: 'output' },
  { names: ['-S', '--server-response'], means: 'output' },
  { names: ['-o', '--output-file'], value: /^(-|\/dev\/null|\/dev\/stdout)$/, means: 'output' },
  { names: ['-O', '--output-document'], value: /^(-|\/dev\/null|\/dev\/stdout)$/, means: 'discard' },
  { names: ['--spider'], means: 'method' },
  { names: ['--header'], value: /^/, means: 'header', repeats: true },
  { names: ['-U', '--user-agent'], value: /^[!-~]([ -~]*[!-~])?$/, means: 'userAgent' },
  { names: ['--no-check-certificate'], means: 'insecure' },
  { names: ['--ca-certificate'], value: /^[^-]/, means: 'certificate' },
  { names: ['-T', '--timeout'], value: duration, means: 'time' },
  { names: ['--connect-timeout'], value: duration, means: 'time' },
  { names: ['--read-timeout'], value: duration, means: 'time' },
  { names: ['--dns-timeout'], value: duration, means: 'time' },
  { names: ['-t', '--tries'], value: /^\d{1,4}$/, means: 'tries' },
  { names: ['--retry-connrefused'], means: 'retries' },
  { names: ['--waitretry'], value: /^\d{1,4}$/, means: 'retries' },
  { names: ['-4', '--inet4-only'], means: 'ipv4' },
  { names: ['--no-proxy'], means: 'noEffect' },
];

export function wget(args: readonly string[], names: readonly string[]): Reading {
  const options = readOptions(args, wgetOptions, 'gnu');
  if (options.kind === 'unknown') return runs(options.reason);
  const { given, operands } = options;
  const is = (means: WgetMeaning) => isGiven(given, means);
  const differing: readonly Difference[] = (['method', 'time', 'retries'] as const).filter(is);
  // Without the option it tries 20 times where a connection breaks.
  const isTriedOnce = Number(valuesOf(given, 'tries')[0] ?? 20) === 1;
  return httpReading(
    {
      urls: operands,
      headers: valuesOf(given, 'header'),
      named: valuesOf(given, 'userAgent').map((value) => ({ name: 'User-Agent', value })),
      isIpv4: is('ipv4'),
      verifies: !is('insecure') || is('certificate'),
      differences: [
        ...differing,
        ...(isTriedOnce ? [] : ['retries' as const]),
        ...(is('discard') || is('method') ? [] : ['file' as const]),
      ],
    },
    names,
  );
}
