/** Parses the command line of `npm start` into options and their texts; options.ts interprets the texts. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '../../../shared/lib/nearest.ts';
import { InvalidOption } from './option-values.ts';

const declared = {
  port: { type: 'string' },
  host: { type: 'string' },
  'healthz-port': { type: 'string' },
  'data-dir': { type: 'string' },
  'token-file': { type: 'string' },
  'allow-exec': { type: 'string' },
  config: { type: 'string' },
  secret: { type: 'string', multiple: true },
  canary: { type: 'string', multiple: true },
  'tls-session-resumption': { type: 'boolean' },
  'no-target-metrics': { type: 'boolean' },
  mode: { type: 'string' },
  control: { type: 'boolean', default: false },
  worker: { type: 'boolean', default: false },
  table: { type: 'string' },
  'queue-url': { type: 'string' },
  bus: { type: 'string' },
  region: { type: 'string' },
  endpoint: { type: 'string', multiple: true },
  release: { type: 'string' },
  concurrency: { type: 'string' },
  'targets-max': { type: 'string' },
  'targets-max-per-namespace': { type: 'string' },
  'probes-per-second-max': { type: 'string' },
  help: { type: 'boolean', default: false },
} as const satisfies ParseArgsConfig['options'];

export type Option = keyof typeof declared;
/** Without the dashes. */
export const optionNames: readonly string[] = Object.keys(declared);
export type Given = ReturnType<typeof strictlyParsed>;

const strictlyParsed = (args: readonly string[]) => parseArgs({ args: [...args], options: declared }).values;

/** A first, lenient pass, so that each error message can suggest a remedy, which Node's messages do not. */
const tokensOf = (args: readonly string[]) =>
  parseArgs({ args: [...args], options: declared, strict: false, tokens: true }).tokens;

type Token = ReturnType<typeof tokensOf>[number];
type OptionToken = Extract<Token, { readonly kind: 'option' }>;

/** @throws InvalidOption */
export function givenOptions(args: readonly string[]): Given {
  const tokens = tokensOf(args);
  for (const token of tokens) {
    if (token.kind === 'option') requireOption(token, args[token.index] ?? token.rawName);
    if (token.kind === 'positional') throw notAnOption(token.value, tokens);
  }
  return strictlyParsed(args);
}

const isOption = (name: string): name is Option => Object.hasOwn(declared, name);

function requireOption(token: OptionToken, argument: string): void {
  const { name, value, inlineValue } = token;
  if (!isOption(name) || !argument.startsWith('--')) throw unknownOption(argument);
  const takesValue = declared[name].type === 'string';
  if (!takesValue && value !== undefined)
    throw new InvalidOption(`--${name}: takes no value; leave out what follows =`);
  if (takesValue && value === undefined) throw new InvalidOption(`--${name}: needs a value behind it`);
  if (takesValue && !inlineValue && value?.startsWith('-'))
    throw new InvalidOption(
      `--${name}: needs a value, but another option follows; one that begins with - needs =, as in --${name}=-`,
    );
}

/** Omits the value of an unknown option, because it may be a secret. */
function unknownOption(argument: string): InvalidOption {
  const [name = argument] = argument.split('=');
  return new InvalidOption(`${shortened(name)}: there is no such option${didYouMean(name)}`);
}

/** npm consumes options that stand before `--` and passes only their values on. */
function notAnOption(text: string, tokens: readonly Token[]): InvalidOption {
  const mayBeSecret = tokens.some((token) => token.kind === 'option' && token.name === 'secret');
  const what = mayBeSecret ? 'an argument' : shortened(text);
  const meant = mayBeSecret ? '' : didYouMean(text);
  return new InvalidOption(
    `${what}: is not an option${meant || '; options stand behind --, as in npm start -- --port 8080'}`,
  );
}

function didYouMean(text: string): string {
  const meant = nearest(text.replace(/^--?/, ''), Object.keys(declared));
  return meant === undefined ? '' : `; did you mean --${meant}?`;
}

const shownCharactersMax = 60;

const shortened = (text: string): string =>
  text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text;
