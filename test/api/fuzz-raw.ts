/**
 * Fuzzes the API below what its document describes: raw requests with random query strings, headers, encodings and
 * endings. Whatever a client sends, the answer is 2xx to 4xx with a documented content type, a refusal is a problem
 * document, and nothing is logged as an error. Usage: node test/api/fuzz-raw.ts URL [SEED]
 */
import { connect } from 'node:net';
import { seededRandom } from '../support/seeded-random.ts';

const requests = 2_500;
const concurrency = 8;
const boundMs = 30_000;
const answerMs = 15_000;

const [base = '', seedText] = process.argv.slice(2);
const seed = Number(seedText ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const { hostname, port, host } = new URL(base);

const below = (count: number): number => Math.floor(random.next() * count);
const pick = <Value>(values: readonly Value[]): Value => values[below(values.length)] as Value;
const times = (max: number, make: () => string): readonly string[] => Array.from({ length: below(max + 1) }, make);
const chance = (part: number): boolean => random.next() < part;

/** The words of a text. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const oddTexts = [
  '',
  ...words('0 -1 1 1e309 00 0x10 NaN null true [] {} * " "" W/"1" % %zz %00 %c0%ae %F0%9F%98%80 %2e%2e%2f %252e'),
  ...words('+ & ; = # .. // \\ | < __proto__ constructor toString a=b a!=b lastChange unknown (((( é'),
  ...['a in (b,c)', 'a notin (', 'metadata.name=a,spec.host!=b', '\x80\xff', '\t', '9'.repeat(400), 'a'.repeat(3_000)],
];
const oddText = (): string =>
  chance(0.7) ? pick(oddTexts) : times(12, () => String.fromCharCode(0x21 + below(0xde))).join('');

const paths = words(`
  /healthz /metrics /openapi.json /v1/targets /v1/targets:apply /v1/watch / /nowhere
  /v1/namespaces/fuzz/targets/one /v1/namespaces/fuzz/targets/one/events /v1/namespaces/fuzz/targets/two/status
  /v1/namespaces/fuzz/targets/two/probe /v1/namespaces/fuzz/targets /v1/namespaces/fuzz/desired
  /v1/namespaces/%66uzz/targets/one /v1/namespaces/fuzz/targets/..%2f..
`);
const methods = words('GET GET GET HEAD PUT POST PATCH DELETE OPTIONS TRACE QUERY PROPFIND M-SEARCH');
const parameters = words(`
  labelSelector limit continue namespace name timeoutSeconds prune dryRun dryrun fieldSelector ready sortBy
  gracePeriodSeconds since a[]
`);
const names = [
  ...words(`
    If-Match If-None-Match Accept Accept-Encoding Authorization Content-Type Content-Encoding Range Cookie
    Origin Sec-Fetch-Site Connection Upgrade Expect TE Trailer Transfer-Encoding Content-Length Host
    X-Forwarded-For X-HTTP-Method-Override __proto__ constructor Prefer Keep-Alive Date Max-Forwards Last-Event-ID
  `),
  'a b',
  '',
];
const types = [
  'application/json',
  'application/yaml',
  'application/merge-patch+json',
  'application/x-ndjson',
  'text/plain',
  'application/json; charset=utf-16',
];
const bodies = [
  '',
  '{',
  '{}',
  '[]',
  'null',
  '"x"',
  '{"spec":{}}',
  '{"spec":{"host":"127.0.0.1"}}',
  '{"metadata":{"generateName":"a"},"spec":{"host":"127.0.0.1","containers":[{"name":"a"}]}}',
  '\xff\xfe',
  'a: &a [*a]',
  '{"a":1e999}',
  '{"apiVersion":"v1","kind":"List","items":[{}, null, {"metadata":{"name":"three"},"spec":{"host":"127.0.0.1"}}]}',
  'a: 1\n---\n- b\n',
  '{"metadata":{"namespace":"fuzz","name":"four"},"spec":{"host":"127.0.0.1"}}\n{}\n\n[\n\xff',
];

const query = (): string => {
  const pairs = times(
    5,
    () => `${chance(0.7) ? pick(parameters) : oddText()}${pick(['=', '=', '', '=='])}${oddText()}`,
  );
  return pairs.length === 0 ? '' : `?${pairs.join(pick(['&', '&', ';', '&&']))}`;
};

type Sent = { readonly raw: string; readonly method: string; readonly isAborted: boolean };

function request(): Sent {
  const method = pick(methods);
  const target = `${pick(paths)}${chance(0.05) ? oddText() : ''}${query()}`.replaceAll(/[\t ]/g, '+');
  const body = pick(bodies);
  const own = chance(0.95) ? [`Host: ${host}`] : [];
  const type = chance(0.8) ? [`Content-Type: ${pick(types)}`] : [];
  const length = chance(0.9) ? [`Content-Length: ${body.length}`] : [];
  const others = chance(0.7) ? times(6, () => `${chance(0.9) ? pick(names) : oddText()}: ${oddText()}`) : [];
  const head = [
    `${method} ${target} HTTP/1.${chance(0.95) ? 1 : 0}`,
    ...own,
    'Connection: close',
    ...type,
    ...length,
    ...others,
  ];
  return { raw: `${head.join('\r\n')}\r\n\r\n${body}`, method, isAborted: chance(0.1) };
}

/**
 * What the server said until it closed; of a stream of events and of a request that does not end, what it said first.
 */
function exchange({ raw, isAborted }: Sent): Promise<string> {
  const bytes = Buffer.from(raw, 'latin1');
  return new Promise((resolve) => {
    let said = '';
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => socket.destroy(), answerMs);
    socket.setEncoding('latin1').on('error', () => {});
    socket.on('data', (text: string) => {
      said += text;
      if (/^content-type: text\/event-stream/im.test(said)) socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(said);
    });
    if (isAborted) socket.write(bytes.subarray(0, below(bytes.length)), () => socket.resetAndDestroy());
    else socket.write(bytes);
  });
}

const documented = [
  ...['application/json', 'application/problem+json', 'application/x-ndjson', 'text/event-stream', 'text/plain'],
];

/** What is wrong with an answer. */
function fault(said: string, { method, isAborted }: Sent): string | undefined {
  if (said === '') return isAborted ? undefined : 'no answer';
  const answers = said.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /.exec(answers) ?? [];
  if (!/^[234]/.test(status)) return `status ${status || answers.slice(0, 40)}`;
  const end = answers.indexOf('\r\n\r\n');
  const [, type = ''] = /^content-type: ([^;\r\n]*)/im.exec(answers.slice(0, end)) ?? [];
  if (type === '' && ['204', '304'].includes(status)) return undefined;
  if (!documented.includes(type)) return `${status} with content type ${type || 'none'}`;
  if (!status.startsWith('4')) return undefined;
  if (type !== 'application/problem+json') return `${status} as ${type}`;
  if (method === 'HEAD') return undefined;
  const text = answers.slice(end + 4);
  const problem = parsed(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  const isSaid = typeof problem === 'object' && problem !== null && 'status' in problem;
  return isSaid && String(problem.status) === status ? undefined : `${status} says ${text}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

console.log(`-- raw requests, seed ${seed}`);
// All are made before any is sent, so that a seed repeats them whatever the answers' order.
const all = Array.from({ length: requests }, request);
const waiting = all.entries();
const startedMs = performance.now();
let sent = 0;
let wrong = 0;
const client = async () => {
  for (const [index, each] of waiting) {
    if (performance.now() - startedMs > boundMs) return;
    const found = fault(await exchange(each), each);
    sent += 1;
    if (found === undefined) continue;
    wrong += 1;
    if (wrong <= 20) console.error(`request ${index}: ${found}\n${JSON.stringify(each.raw.slice(0, 400))}`);
  }
};
await Promise.all(Array.from({ length: concurrency }, client));
console.log(`${sent} requests, ${wrong} wrong, ${Math.round(performance.now() - startedMs)} ms`);
process.exitCode = wrong === 0 ? 0 : 1;
