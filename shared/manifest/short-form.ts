/**
 * A probe as the text of a label: JSON, as in a manifest, or the short form, such as `http:8080/live periodSeconds=10`.
 * The API validates the values.
 */
import { parseJson } from '../api/http/json.ts';
import { listed } from '../core/spec/field-problem.ts';
import { nearest } from '../lib/nearest.ts';
import { ownProperty } from '../lib/own-property.ts';
import { probeTextLengthMax } from './limits.ts';
import { given, isMembers, type Members } from './values.ts';

export type ParsedProbe =
  | { readonly kind: 'probe'; readonly probe: Members }
  | { readonly kind: 'malformed'; readonly detail: string };

const malformed = (detail: string): ParsedProbe => ({ kind: 'malformed', detail });

export function parseProbe(text: string): ParsedProbe {
  const trimmed = text.trim();
  if (trimmed.length > probeTextLengthMax) return malformed(`must be at most ${probeTextLengthMax} characters`);
  return trimmed.startsWith('{') ? parsedJson(trimmed) : parsedShortForm(trimmed);
}

function parsedJson(text: string): ParsedProbe {
  const parsed = parseJson(text);
  if (parsed.kind === 'malformed') return malformed(`is not JSON: ${parsed.reason}`);
  const [probe] = parsed.documents;
  return isMembers(probe) ? { kind: 'probe', probe } : malformed('must be an object');
}

type Handler = (rest: string, args: readonly string[]) => Members | string;

/** Reads what follows each name and its colon. Returns a text that says what is wrong. */
const handlers: { readonly [name: string]: Handler } = {
  http: (rest) => httpGet(rest, undefined),
  https: (rest) => httpGet(rest, 'HTTPS'),
  tcp: (rest) =>
    rest.includes('/') ? 'must have nothing behind the port of tcp:' : { tcpSocket: { port: portOf(rest) } },
  grpc: (rest) => {
    const { port, path } = portAndPath(rest);
    return { grpc: given({ port, service: path === '' ? undefined : path.slice(1) }) };
  },
  exec: (program, args) => ({ exec: { command: [program, ...args] } }),
};

const numbers = [
  ...['initialDelaySeconds', 'periodSeconds', 'timeoutSeconds', 'successThreshold', 'failureThreshold'],
  'terminationGracePeriodSeconds',
];

const forms = 'http:PORT/PATH, https:PORT/PATH, tcp:PORT, grpc:PORT/SERVICE, exec:COMMAND or JSON';

function parsedShortForm(text: string): ParsedProbe {
  const words = splitWords(text);
  if (words === undefined) return malformed('has a quotation mark without its second one');
  const [first = '', ...others] = words;
  const colon = first.indexOf(':');
  const name = colon < 0 ? first : first.slice(0, colon);
  const handler = ownProperty(handlers, name);
  const rest = first.slice(name.length + 1);
  if (!handler) return malformed(`must begin with one of ${forms}${didYouMean(name, Object.keys(handlers))}`);
  if (rest === '') return malformed(`must have ${name === 'exec' ? 'a command' : 'a port'} behind ${name}:`);
  const isCommand = name === 'exec';
  const options = isCommand ? others.filter(isNumber) : others;
  const made = handler(rest, isCommand ? others.filter((word) => !isNumber(word)) : []);
  if (typeof made === 'string') return malformed(made);
  return withNumbers(made, options);
}

function httpGet(rest: string, scheme: string | undefined): Members | string {
  if (rest.startsWith('//')) return 'must have the port behind the colon; another host goes into JSON, httpGet.host';
  const { port, path } = portAndPath(rest);
  return { httpGet: given({ port, path: path === '' ? undefined : path, scheme }) };
}

/** The path begins with its slash. */
function portAndPath(rest: string) {
  const slash = rest.indexOf('/');
  return slash < 0 ? { port: portOf(rest), path: '' } : { port: portOf(rest.slice(0, slash)), path: rest.slice(slash) };
}

const portOf = (text: string): number | string => (/^\d{1,9}$/.test(text) ? Number(text) : text);

const nameOf = (word: string): string => word.slice(0, Math.max(0, word.indexOf('=')));

/** Among the words of a command: a number of the probe, and no argument. */
const isNumber = (word: string): boolean => numbers.includes(nameOf(word));

function withNumbers(handler: Members, words: readonly string[]): ParsedProbe {
  const fields = new Map<string, number>();
  for (const word of words) {
    const name = nameOf(word);
    if (!numbers.includes(name))
      return malformed(
        `has ${JSON.stringify(word)}, which is none of ${listed(numbers, 'or')} with = and a number${didYouMean(name, numbers)}`,
      );
    if (fields.has(name)) return malformed(`has ${name} twice`);
    const value = word.slice(name.length + 1);
    if (!/^\d{1,9}$/.test(value)) return malformed(`must have a whole number behind ${name}=`);
    fields.set(name, Number(value));
  }
  return { kind: 'probe', probe: { ...handler, ...Object.fromEntries(fields) } };
}

function didYouMean(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

/**
 * The words of a text, as a shell splits it: at blanks outside quotation marks, which are removed. There are no
 * escapes. Undefined: a quotation mark has no second one.
 */
function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const character of text) {
    if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return quote === undefined ? words : undefined;
}
