/**
 * Compares what a command and its probe asked and how they decided, with one answer of the servers. A difference counts
 * as declared only if the user has read about that, and only for the answers to which the note applies.
 */
import type { Answer, Recorded, RecordedRequest } from './stand.ts';

export type Observed = { readonly recorded: Recorded; readonly isSuccess: boolean | undefined };

export type Comparison = {
  readonly answer: Answer;
  readonly command: Observed;
  readonly probe: Observed;
  /** What the user reads. */
  readonly notes: string;
};

export type Judgement =
  | { readonly kind: 'same' }
  | { readonly kind: 'declared'; readonly differences: readonly string[] }
  /** `of`: whether the probe asks something else, or decides otherwise without a word. */
  | { readonly kind: 'wrong'; readonly of: 'request' | 'verdict'; readonly what: string };

type Declared = {
  readonly name: string;
  readonly phrase: string;
  /** To what of the comparison it applies. */
  readonly covers: 'verdict' | 'request';
  readonly applies: (comparison: Comparison) => boolean;
};

const declarations: readonly Declared[] = [
  {
    name: 'statuses',
    phrase: 'only a status from 200 to 399 is a success',
    covers: 'verdict',
    applies: ({ answer, command }) => answer.status >= 400 && command.isSuccess === true,
  },
  {
    name: 'redirects',
    phrase: 'redirects are followed on the same host name, and any other is a success',
    covers: 'verdict',
    applies: ({ answer }) => answer.status >= 300 && answer.status < 400,
  },
  {
    name: 'redirects',
    phrase: 'redirects are followed on the same host name, and any other is a success',
    covers: 'request',
    applies: ({ answer }) => answer.location !== undefined,
  },
  {
    name: 'certificate',
    phrase: 'the certificate is not verified',
    covers: 'verdict',
    applies: ({ command, probe }) =>
      command.isSuccess === false && command.recorded.requests.length === 0 && isSecure(probe.recorded),
  },
  {
    name: 'certificate',
    phrase: 'the certificate is not verified',
    covers: 'request',
    applies: ({ command, probe }) => command.recorded.requests.length === 0 && isSecure(probe.recorded),
  },
];

const isSecure = ({ requests }: Recorded): boolean => requests.every(({ port }) => port === '@HTTPS@');

export function judge(comparison: Comparison): Judgement {
  const { command, probe } = comparison;
  const found: string[] = [];
  const declared = (covers: Declared['covers']): boolean => {
    const allowed = declarations.find(
      (each) => each.covers === covers && comparison.notes.includes(each.phrase) && each.applies(comparison),
    );
    if (allowed) found.push(allowed.name);
    return allowed !== undefined;
  };
  if (probe.isSuccess === undefined) return { kind: 'wrong', of: 'verdict', what: 'the probe does not decide' };
  const request = requestDifference(comparison);
  if (request !== undefined && request !== 'method' && !declared('request'))
    return { kind: 'wrong', of: 'request', what: request };
  if (request === 'method') {
    if (!comparison.notes.includes('GET takes the place of HEAD'))
      return { kind: 'wrong', of: 'request', what: 'another method' };
    found.push('method');
  }
  if (command.isSuccess !== probe.isSuccess && !declared('verdict'))
    return { kind: 'wrong', of: 'verdict', what: `the command ${verdict(command)}, the probe ${verdict(probe)}` };
  return found.length === 0 ? { kind: 'same' } : { kind: 'declared', differences: [...new Set(found)] };
}

const verdict = ({ isSuccess }: Observed): string => (isSuccess ? 'succeeds' : 'fails');

/** Undefined: both asked the same. */
function requestDifference({ answer, command, probe, notes }: Comparison): string | undefined {
  const [ofCommand, ofProbe] = [command.recorded, probe.recorded];
  if (ofCommand.connected.join() !== ofProbe.connected.join())
    return `the command connects to ${ofCommand.connected.join() || 'nothing'}, the probe to ${ofProbe.connected.join() || 'nothing'}`;
  const [first, other] = [distinct(ofCommand.requests), distinct(ofProbe.requests)];
  if (first.join('\n') === other.join('\n'))
    return ofCommand.requests.length === ofProbe.requests.length || isRepeating(notes)
      ? undefined
      : `the command asks ${ofCommand.requests.length} times, the probe ${ofProbe.requests.length} times`;
  const asGet = distinct(
    ofCommand.requests.map((each) => ({ ...each, method: each.method === 'HEAD' ? 'GET' : each.method })),
  );
  // A redirect by another host name is not followed.
  if (asGet.join('\n') === other.join('\n') || (answer.location && asGet[0] === other[0]))
    return asGet[0] === first[0] ? `the command follows ${first.length}, the probe ${other.length}` : 'method';
  return `the command asks ${first.join(', ') || 'nothing'}, the probe ${other.join(', ') || 'nothing'}`;
}

const isRepeating = (notes: string): boolean => notes.includes('a failure is not repeated at once');

const distinct = (requests: readonly RecordedRequest[]): readonly string[] => [...new Set(requests.map(shown))];

/** What each program adds to every request by itself. */
const ownHeaders = [
  ...[
    /^user-agent: (curl|Wget)\//,
    /^user-agent: Wget$/,
    /^user-agent: kube-probe\//,
    /^accept: \*\/\*$/,
    /^connection: /,
  ],
  ...[/^accept-encoding: identity$/, /^referer: http:\/\/127\.0\.0\.1:\d+\//, /^referer: https:\/\/127\.0\.0\.1:\d+\//],
];
const localAuthority = /^(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):\d+$/;

function shown({ port, method, path, host, headers }: RecordedRequest): string {
  const added = headers.filter((each) => !ownHeaders.some((own) => own.test(each))).sort();
  const named = localAuthority.test(host) ? '' : ` Host: ${host}`;
  return `${method} ${port}${path}${named}${added.map((each) => ` [${each}]`).join('')}`;
}
