/**
 * The one simple command of a shell's script whose exit code is the verdict. unbash parses Bash; what is accepted of it
 * means the same to every POSIX shell: words without expansions, output that is discarded, and endings that only repeat
 * whether the command succeeded.
 */
import { type AndOr, type Command, parse, type Redirection, type Word } from 'unbash';
import { probeTextLengthMax } from '../limits.ts';
import { shown } from './reading.ts';

export type ScriptCommand =
  | { readonly kind: 'command'; readonly words: readonly string[] }
  | { readonly kind: 'other'; readonly reason: string };

const other = (reason: string): ScriptCommand => ({ kind: 'other', reason });

/** `isBash`: the script may use `&>`, which sends the command into the background of other shells. */
export function scriptCommand(script: string, isBash: boolean): ScriptCommand {
  if (script.length > probeTextLengthMax) return other(`its script has more than ${probeTextLengthMax} characters`);
  // Shells differ in these, and in a backslash before the end.
  if (/[^\t\n -~]/.test(script)) return other('its script has a character that is not of ASCII');
  if (script.endsWith('\\')) return other('its script ends with a backslash');
  const { commands, errors = [] } = parse(script);
  const [error] = errors;
  if (error) return other(`its script cannot be parsed (${error.message})`);
  const [first, second] = commands;
  if (!first) return other('its script is empty');
  if (second) return other(`its script has a second command${nameIn(second.command)}`);
  if (first.background === true) return other('"&" runs it in the background');
  const found = judged(first.command);
  if (typeof found === 'string') return other(found);
  const command = simple(found, isBash);
  const isKnown = command.kind === 'other' || isAllRead(script, first.command);
  return isKnown ? command : other('its script has an operator out of place');
}

type Node = ReturnType<typeof parse>['commands'][number]['command'];

/** The command that decides, or why several do. */
function judged(node: Node): Command | string {
  if (node.type === 'Command') return node;
  if (node.type === 'AndOr') return beforeEnding(node);
  if (node.type !== 'Pipeline') return 'its script is a compound command';
  const [operator] = node.operators;
  const prefix = node.prefixes[0]?.type === 'Time' ? '"time"' : '"!"';
  return operator === undefined ? `${prefix} stands before it` : `${shown(operator)} passes its output on`;
}

/**
 * unbash leaves out what a shell would refuse, such as a lone parenthesis, mostly without an error. So what stands
 * between the words is looked at, too.
 */
function isAllRead(script: string, node: Node): boolean {
  const nodes = node.type === 'AndOr' ? node.commands : [node];
  const read = nodes.flatMap((each) =>
    each.type === 'Command' ? [each.name ?? [], each.prefix, each.suffix].flat() : [],
  );
  let [between, end, isBehindRedirection] = ['', 0, false];
  for (const each of read.sort((a, b) => a.pos - b.pos)) {
    // dash reads `>&1>file` as `>&` and `1>file`.
    if (each.pos === end && isBehindRedirection) return false;
    between += `${script.slice(end, each.pos)}\0`;
    end = each.end;
    isBehindRedirection = each.type === 'Redirect';
  }
  const plain = `${between}${script.slice(end)}`.replaceAll(/(^|[ \t\n;])#[^\n]*/g, '$1').trim();
  return /^(?:[ \t\n\0]|\\\n|\|\||&&)*$/.test(plain.endsWith(';') ? plain.slice(0, -1) : plain);
}

const nameIn = (node: Node): string => (node.type === 'Command' && node.name ? `, ${shown(node.name.text)}` : '');

/** What fails, behind `||`. The exit code 256 would be 0. */
const failing = /^(false|exit( (-1|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5]))?)$/;
/** What succeeds, behind `&&`. */
const succeeding = /^(true|:|exit( 0)?)$/;

function beforeEnding({ commands, operators }: AndOr): Command | string {
  const [first, ...rest] = commands;
  const endings = rest.map((each, index) => ({ operator: operators[index], text: plainText(each) }));
  const wrong = endings.find(
    ({ operator, text }, index) =>
      text === undefined || (operator === '&&' ? index > 0 || !succeeding.test(text) : !failing.test(text)),
  );
  const isDecided = endings.filter(({ operator }) => operator === '||').length <= 1;
  if (first?.type === 'Command' && !wrong && isDecided) return first;
  return `what stands behind ${shown((wrong ?? endings[0])?.operator ?? '')} decides, too`;
}

/** Undefined: it is more than words. */
function plainText(node: AndOr['commands'][number]): string | undefined {
  if (node.type !== 'Command' || node.prefix.length > 0 || !node.name) return undefined;
  const words = [node.name, ...node.suffix];
  return words.every((each) => each.type === 'Word' && each.text === each.value)
    ? words.map((each) => (each.type === 'Word' ? each.value : '')).join(' ')
    : undefined;
}

function simple(command: Command, isBash: boolean): ScriptCommand {
  const words: string[] = [];
  for (const each of [...command.prefix, ...(command.name ? [command.name] : []), ...command.suffix]) {
    if (each.type === 'Assignment') return other(`"${each.name}=" sets a variable`);
    if (each.type !== 'Word') {
      if (!isDiscarding(each, isBash)) return other(`${shown(each.operator)} redirects it`);
      continue;
    }
    const expanded = expansionIn(each);
    if (expanded !== undefined) return other(`the shell expands ${shown(expanded)}`);
    // Elsewhere in a word only some shells take it literally.
    if (each.value.includes('$')) return other('"$" may stand for a variable');
    words.push(each.value);
  }
  if (words[0] !== 'exec') return { kind: 'command', words };
  return words[1]?.startsWith('-') ? other('"exec" has an option') : { kind: 'command', words: words.slice(1) };
}

/** Whether it takes nothing from the command but its output. */
function isDiscarding(redirection: Redirection, isBash: boolean): boolean {
  if (redirection.type !== 'Redirect') return false;
  const { operator, descriptor, target } = redirection;
  if (descriptor?.type === 'FileDescriptorVariable') return false;
  const from = descriptor?.value ?? 1;
  if (target === undefined || target.text !== target.value || (from !== 1 && from !== 2)) return false;
  switch (operator) {
    case '>':
    case '>>':
      return target.value === '/dev/null';
    case '>&':
      return target.value === '1' || target.value === '2';
    case '&>':
      return isBash && target.value === '/dev/null';
    default:
      return false;
  }
}

/** The first part that the shell replaces; undefined: the word stands for itself. */
function expansionIn(word: Word): string | undefined {
  if (/^~|[=:]~/.test(word.text)) return word.text;
  // A pattern that matches no file stays as it is, and no file lies below a folder named "http:".
  const isUrl = /^["']?https?:\/\//.test(word.text);
  for (const part of word.parts ?? []) {
    const isPlain =
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every(({ type }) => type === 'Literal')) ||
      (part.type === 'Glob' && isUrl && (part.parts ?? []).every(({ type }) => type === 'Literal'));
    if (!isPlain)
      return nameOfExpansion(part.type === 'DoubleQuoted' ? part.parts.find(({ type }) => type !== 'Literal') : part);
  }
  return undefined;
}

type Part = NonNullable<Word['parts']>[number];

/** Without what may be a secret, such as the default value of a variable. */
function nameOfExpansion(part: Part | undefined): string {
  if (part?.type === 'ParameterExpansion') return `\${${part.parameter}}`;
  if (part?.type === 'CommandExpansion') return '$(…)';
  return part?.text ?? '';
}
