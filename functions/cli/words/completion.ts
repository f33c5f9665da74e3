/** What may stand at the end of a command line that is being typed: worked out from the commands themselves. */
import type { Argument, Command, Option } from 'commander';
import { resourceWords } from './resources.ts';

export type Suggestion = { readonly word: string; readonly description?: string };

export type Completion =
  | { readonly kind: 'words'; readonly words: readonly Suggestion[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'contexts' }
  /** `prefix`: stands before each name. `flags`: what the line says about the server. */
  | { readonly kind: 'targets'; readonly prefix: string; readonly flags: TypedFlags };

/** The values of options on the line, by the name that commander gives them. */
export type TypedFlags = { readonly [attribute: string]: string };

type Line = {
  readonly command: Command;
  /** The arguments of the command so far. */
  readonly given: readonly string[];
  readonly flags: TypedFlags;
  /** Whose value comes next. */
  readonly open?: Option;
};

/** `words`: after the name of the program; the last one is being typed and may be empty. */
export function completionFor(program: Command, words: readonly string[]): Completion {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const line = lineOf(program, typed);
  const { command, open } = line;
  if (open) return valueCompletion(open, current);
  const [flag = '', value] = splitFlag(current);
  const option = value === undefined ? undefined : optionNamed(command, flag);
  if (option) return prefixed(valueCompletion(option, value ?? ''), `${flag}=`);
  if (current.startsWith('-')) return matching(optionWords(command), current);
  const below = command.createHelp().visibleCommands(command);
  if (below.length > 0 && line.given.length === 0)
    return matching(
      below.map((each) => suggestion(each.name(), each.description())),
      current,
    );
  return argumentCompletion(line, current);
}

function lineOf(program: Command, typed: readonly string[]): Line {
  let command = program;
  let open: Option | undefined;
  const given: string[] = [];
  const flags: { [attribute: string]: string } = {};
  for (const word of typed) {
    const [flag, value] = splitFlag(word);
    const option: Option | undefined = open ? undefined : optionNamed(command, flag);
    if (open) flags[open.attributeName()] = word;
    else if (option && value !== undefined) flags[option.attributeName()] = value;
    else if (!option && !word.startsWith('-')) {
      const next = command.commands.find((each) => each.name() === word);
      if (next) command = next;
      else given.push(word);
    }
    open = option?.required && value === undefined ? option : undefined;
  }
  return { command, given, flags, ...(open && { open }) };
}

/** `--name=value` in its two parts. */
function splitFlag(word: string): readonly [flag: string, value?: string] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

const optionNamed = (command: Command, flag: string): Option | undefined =>
  command.options.find(({ long, short }) => flag !== '' && (long === flag || short === flag));

const optionWords = (command: Command): readonly Suggestion[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long === undefined ? [] : [suggestion(long, description)]));

const suggestion = (word: string, description: string): Suggestion => ({
  word,
  // One line, and short enough to stand beside the word.
  description: description.split(/: |[;(]/)[0]?.trim() ?? '',
});

const matching = (words: readonly Suggestion[], current: string): Completion => ({
  kind: 'words',
  words: words.filter(({ word }) => word.startsWith(current)),
});

const named = (words: readonly string[], current: string): Completion =>
  matching(
    words.map((word) => ({ word })),
    current,
  );

const conditions = ['delete', 'condition=Ready', 'condition=ContainersReady', 'condition=Initialized'];

/** What an option takes is known by the name that its help gives the value. */
function valueCompletion({ flags, argChoices, long }: Option, current: string): Completion {
  if (argChoices) return named(argChoices, current);
  if (flags.endsWith('<file>') || flags.endsWith('<folder>')) return { kind: 'files' };
  if (long === '--context') return { kind: 'contexts' };
  return named(long === '--for' ? conditions : [], current);
}

function prefixed(completion: Completion, prefix: string): Completion {
  if (completion.kind !== 'words') return completion;
  return { kind: 'words', words: completion.words.map((each) => ({ ...each, word: prefix + each.word })) };
}

function argumentCompletion({ command, given, flags }: Line, current: string): Completion {
  const declared = command.registeredArguments;
  const last = declared.at(-1);
  const argument: Argument | undefined = declared[given.length] ?? (last?.variadic ? last : undefined);
  if (argument?.argChoices) return named(argument.argChoices, current);
  switch (argument?.name()) {
    case 'context':
      return { kind: 'contexts' };
    case 'name':
      return { kind: 'targets', prefix: '', flags };
    case 'target':
      return targetCompletion(given, { words: ['target'], current, flags });
    case 'resource':
      return targetCompletion(given, { words: resourceWords.filter((word) => word.endsWith('s')), current, flags });
    default:
      return named([], current);
  }
}

type Typing = { readonly words: readonly string[]; readonly current: string; readonly flags: TypedFlags };

/** `target/NAME`, or `target NAME`. */
function targetCompletion(given: readonly string[], { words, current, flags }: Typing): Completion {
  const slash = current.indexOf('/');
  if (slash >= 0) return { kind: 'targets', prefix: current.slice(0, slash + 1), flags };
  const [first = ''] = given;
  if (first === '') return named(words, current);
  return { kind: 'targets', prefix: first.includes('/') ? 'target/' : '', flags };
}
