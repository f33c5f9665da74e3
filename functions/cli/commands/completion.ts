/** `probelet completion`: what a shell needs to complete command lines, and what that asks for while one is typed. */
import { Argument, Command } from 'commander';
import type { CommandSetting, Io } from '../io.ts';
import { joined, ownText, tabbedLine } from '../printing/printable.ts';
import { readConfig } from '../server/config-file.ts';
import { type ConnectionFlags, connectionOf, connectionOptions, withSession } from '../server/connection.ts';
import { type Completion, completionFor, type TypedFlags } from '../words/completion.ts';
import { completionScripts, filesLine } from '../words/completion-scripts.ts';

/** A shell waits for it. */
const requestMsMax = 1_500;
const namesMax = 500;

const examples = `
Examples:
  source <(probelet completion bash)
  probelet completion bash > /etc/bash_completion.d/probelet
  source <(probelet completion zsh)
  probelet completion fish > ~/.config/fish/completions/probelet.fish`;

export const completionCommand = ({ io }: CommandSetting): Command =>
  new Command('completion')
    .description('print what completes command lines in a shell: commands, options, targets and contexts')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(completionScripts)))
    .addHelpText('after', examples)
    .action((shell: keyof typeof completionScripts) => io.out(ownText(completionScripts[shell])));

/** Hidden: only the scripts call it. It prints nothing rather than an error. */
export const completeCommand = ({ io }: CommandSetting): Command =>
  new Command('__complete')
    .argument('[word...]', 'the words of the line after the name of the program')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[], _: object, { parent }: Command) => {
      if (!parent) return;
      const lines = await linesOf(completionFor(parent, words), words.at(-1) ?? '', io);
      io.out(joined(lines.map(tabbedLine)));
    });

/** A word each, with its description. */
async function linesOf(completion: Completion, current: string, io: Io): Promise<readonly (readonly string[])[]> {
  switch (completion.kind) {
    case 'words':
      return completion.words.map(({ word, description = '' }) => (description === '' ? [word] : [word, description]));
    case 'files':
      return [[filesLine]];
    case 'contexts':
      return offered(await known(() => readConfig(io.env).contexts.map(({ name }) => name)), current);
    case 'targets': {
      const { prefix, flags } = completion;
      const names = await known(() => targetNamesNow(flags, io));
      return offered(
        names.map((name) => prefix + name),
        current,
      );
    }
  }
}

const offered = (words: readonly string[], current: string): readonly (readonly string[])[] =>
  words.filter((word) => word.startsWith(current)).map((word) => [word]);

/**
 * bash puts a word on the line as it is, where `$(…)` would be a command. Names of targets and of most contexts have
 * no such characters; others are not offered.
 */
const isPlainWord = (name: string): boolean => /^[\w.][\w.@+-]*$/.test(name);

/** None if they cannot be found out. */
async function known(names: () => Promise<readonly string[]> | readonly string[]): Promise<readonly string[]> {
  try {
    return (await names()).filter(isPlainWord);
  } catch {
    return [];
  }
}

async function targetNamesNow(typed: TypedFlags, io: Io): Promise<readonly string[]> {
  const connection = connectionOf(flagsFrom(typed), io.env);
  const names: string[] = [];
  const stop = AbortSignal.timeout(requestMsMax);
  await withSession({ ...connection, timeoutMs: requestMsMax }, { io, stop }, async ({ client, namespace }) => {
    for await (const { metadata } of client.targets({ namespace })) {
      names.push(metadata.name);
      if (names.length === namesMax) break;
    }
  });
  return names.toSorted();
}

/** The texts of the line as the options parse them. */
function flagsFrom(typed: TypedFlags): ConnectionFlags {
  const parsed = connectionOptions().flatMap((option): readonly (readonly [string, unknown])[] => {
    const text = typed[option.attributeName()];
    if (text === undefined) return [];
    return [[option.attributeName(), option.parseArg ? option.parseArg<unknown>(text, undefined) : text]];
  });
  return Object.fromEntries(parsed);
}
