/**
 * The words of those who know kubectl: commands that exist only there, with what does the same here, and flags as
 * kubectl takes them (github.com/spf13/pflag), written so that commander takes them.
 */
import type { Command, Option } from 'commander';
import { WrongUse } from './exit-codes.ts';

const notRun = 'a target is probed, but not run here';

const hints: { readonly [command: string]: string } = {
  logs: `${notRun}: 'probelet events NAME' prints what its probes have said`,
  exec: `${notRun}: 'probelet probe target/NAME' probes it now`,
  attach: `${notRun}: 'probelet get targets -w' prints what changes`,
  'port-forward': `${notRun}: probes go to its spec.host`,
  cp: notRun,
  run: `${notRun}: 'probelet apply -f FILE' registers one`,
  rollout: `${notRun}: restart it where it runs, and report that by POST …/restarted`,
  scale: `${notRun}: the file of 'probelet apply' names each of them`,
  autoscale: notRun,
  top: `${notRun}: /metrics of the server has the probes and their durations`,
  drain: notRun,
  create: "'probelet apply -f FILE' stores what is new and what has changed",
  replace: "'probelet apply -f FILE' replaces what has changed",
  patch: "'probelet edit target/NAME' changes a target, and 'probelet apply -f FILE' many",
  label: "'probelet edit target/NAME' changes the labels of a target",
  annotate: "'probelet edit target/NAME' changes the annotations of a target",
  set: "'probelet edit target/NAME' changes a target",
  config: "'probelet context' has the servers",
  'cluster-info': "'probelet doctor' says whether the server is in order",
  'api-resources': "'probelet get' knows targets, probes and events",
};

export const kubectlHint = (command: string): string | undefined =>
  Object.hasOwn(hints, command) ? `there is no command ${command}: ${hints[command]}` : undefined;

/** Commands that take files by `-f` only. */
export const fileCommands: readonly string[] = ['apply', 'diff', 'convert', 'lint', 'try'];

const trueWords = ['true', 't', 'T', 'TRUE', 'True', '1'];
const falseWords = ['false', 'f', 'F', 'FALSE', 'False', '0'];

/**
 * `-n=shop` is `-n shop`, `-Aw=true` is `-A -w`, and `--watch=false` is nothing, or `--no-watch` where there is such an
 * option. What follows `--`, and the value of an option, stays. @throws WrongUse
 */
export function commanderWords(words: readonly string[], command: Command): readonly string[] {
  const below = command.commands.flatMap((each) => each.options);
  const options = [...command.options, ...below, ...(command.parent?.options ?? [])];
  const found: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return [...found, ...words.slice(at)];
    const written = word.startsWith('--') ? longWords(word, options) : shortWords(word, options);
    found.push(...written);
    const value = words[at + 1];
    if (value !== undefined && isOpen(written.at(-1), options)) {
      found.push(value);
      at += 1;
    }
  }
  return found;
}

const takesValue = ({ required, optional }: Option): boolean => required || optional;

/** Whether the next word is the value of this option. */
const isOpen = (word: string | undefined, options: readonly Option[]): boolean =>
  options.some(({ short, long, required }) => required && word !== undefined && (word === short || word === long));

function longWords(word: string, options: readonly Option[]): readonly string[] {
  const at = word.indexOf('=');
  const option = options.find(({ long }) => long === word.slice(0, at));
  if (at < 0 || !option || takesValue(option)) return [word];
  return switched(option, word.slice(at + 1), options);
}

/** Each letter is an option; what follows one with a value is its value. */
function shortWords(word: string, options: readonly Option[]): readonly string[] {
  const found: string[] = [];
  for (let at = 1; word.startsWith('-') && at < word.length; at += 1) {
    const option = options.find(({ short }) => short === `-${word[at]}`);
    if (!option) break;
    const rest = word.slice(at + 1);
    const value = rest.startsWith('=') ? rest.slice(1) : rest;
    if (takesValue(option)) return [...found, `-${word[at]}`, ...(rest === '' ? [] : [value])];
    if (rest.startsWith('=')) return [...found, ...switched(option, value, options)];
    found.push(`-${word[at]}`);
  }
  return found.length === word.length - 1 && found.length > 0 ? found : [word];
}

function switched({ long = '', short = '' }: Option, value: string, options: readonly Option[]): readonly string[] {
  const name = long === '' ? short : long;
  if (trueWords.includes(value)) return [name];
  if (!falseWords.includes(value)) throw new WrongUse(`invalid argument "${value}" for ${name}: must be true or false`);
  const opposite = `--no-${long.slice(2)}`;
  return options.some((each) => each.long === opposite) ? [opposite] : [];
}
