/** The options of curl whose meaning for a probe is known. */
import { httpReading } from './http-request.ts';
import { isGiven, type Option, readOptions, valuesOf } from './options.ts';
import { type Difference, type Reading, runs } from './reading.ts';

/** `output`: it decides only what is printed. */
export type CurlMeaning =
  | ('output' | 'fail' | 'url' | 'header' | 'userAgent' | 'referer' | 'get' | 'ipv4' | 'insecure' | 'noEffect')
  | ('method' | 'redirects' | 'time' | 'retries');

const duration = /^\d{1,6}(\.\d{1,3})?$/;
const count = /^\d{1,6}$/;
const path = /^[^-]/;
const fieldValue = /^[!-~]([ -~]*[!-~])?$/;

export const curlOptions: readonly Option<CurlMeaning>[] = [
  { names: ['-s', '--silent'], means: 'output' },
  { names: ['-S', '--show-error'], means: 'output' },
  { names: ['-v', '--verbose'], means: 'output' },
  { names: ['-i', '--include'], means: 'output' },
  { names: ['-N', '--no-buffer'], means: 'output' },
  { names: ['-#', '--progress-bar'], means: 'output' },
  { names: ['--no-progress-meter'], means: 'output' },
  { names: ['-o', '--output'], value: /^(\/dev\/null|-)$/, means: 'output' },
  { names: ['-w', '--write-out'], value: /^([^@%]|%\{[a-z_]+\})*$/, means: 'output' },
  { names: ['-f', '--fail'], means: 'fail' },
  { names: ['--fail-with-body'], means: 'fail' },
  { names: ['--url'], value: /^/, means: 'url' },
  { names: ['-X', '--request'], value: /^GET$/, means: 'get' },
  { names: ['-I', '--head'], means: 'method' },
  { names: ['-H', '--header'], value: /^/, means: 'header', repeats: true },
  { names: ['-A', '--user-agent'], value: fieldValue, means: 'userAgent' },
  { names: ['-e', '--referer'], value: /^[!-:<-~]+$/, means: 'referer' },
  { names: ['-L', '--location'], means: 'redirects' },
  { names: ['-k', '--insecure'], means: 'insecure' },
  { names: ['--cacert'], value: path, means: 'noEffect' },
  { names: ['--capath'], value: path, means: 'noEffect' },
  { names: ['-m', '--max-time'], value: duration, means: 'time' },
  { names: ['--connect-timeout'], value: duration, means: 'time' },
  { names: ['--retry'], value: count, means: 'retries' },
  { names: ['--retry-delay'], value: count, means: 'retries' },
  { names: ['--retry-max-time'], value: count, means: 'retries' },
  { names: ['--retry-connrefused'], means: 'retries' },
  { names: ['--retry-all-errors'], means: 'retries' },
  { names: ['-4', '--ipv4'], means: 'ipv4' },
  { names: ['--noproxy'], value: /^\*$/, means: 'noEffect' },
  { names: ['--http1.1'], means: 'noEffect' },
  { names: ['-g', '--globoff'], means: 'noEffect' },
  { names: ['-q', '--disable'], means: 'noEffect' },
];

export function curl(args: readonly string[], names: readonly string[]): Reading {
  const options = readOptions(args, curlOptions, 'curl');
  if (options.kind === 'unknown') return runs(options.reason);
  const { given, operands } = options;
  const is = (means: CurlMeaning) => isGiven(given, means);
  const fails = new Set(given.filter(({ means }) => means === 'fail').map(({ name }) => name));
  if (fails.has('--fail-with-body') && fails.size > 1) return runs('"--fail-with-body" stands beside "--fail"');
  if (is('method') && is('get')) return runs('"-X" stands beside "-I"');
  const differing: readonly Difference[] = (['method', 'time', 'retries'] as const).filter(is);
  return httpReading(
    {
      urls: [...operands, ...valuesOf(given, 'url')],
      headers: valuesOf(given, 'header'),
      named: [
        ...valuesOf(given, 'userAgent').map((value) => ({ name: 'User-Agent', value })),
        ...valuesOf(given, 'referer').map((value) => ({ name: 'Referer', value })),
      ],
      isIpv4: is('ipv4'),
      // Without -k it verifies by some authority, whether that is named or not.
      verifies: !is('insecure'),
      differences: [...differing, ...(is('fail') ? [] : ['statuses' as const])],
    },
    names,
  );
}
