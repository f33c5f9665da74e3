/**
 * The file given by `--allow-exec`, with one allowed command in each line. An absolute path allows that program with
 * any arguments; a JSON array of strings allows exactly that command. Empty lines and lines that begin with `#` are
 * ignored.
 */
import { isAbsolute } from 'node:path';

export type AllowList = (command: readonly string[]) => boolean;

export type ParsedAllowList =
  | { readonly kind: 'ok'; readonly allows: AllowList }
  /** `line` counts from 1. */
  | { readonly kind: 'invalid'; readonly line: number; readonly detail: string };

const linesMax = 10_000;

type Rule =
  | { readonly kind: 'program'; readonly path: string }
  | { readonly kind: 'command'; readonly command: readonly string[] };

export function parseAllowList(text: string): ParsedAllowList {
  const lines = text.split('\n');
  if (lines.length > linesMax) return { kind: 'invalid', line: linesMax + 1, detail: `more than ${linesMax} lines` };
  const programs = new Set<string>();
  const commands = new Set<string>();
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const rule = parseRule(line);
    if (typeof rule === 'string') return { kind: 'invalid', line: index + 1, detail: rule };
    if (rule.kind === 'program') programs.add(rule.path);
    else commands.add(JSON.stringify(rule.command));
  }
  const allows: AllowList = (command) => programs.has(command[0] ?? '') || commands.has(JSON.stringify(command));
  return { kind: 'ok', allows };
}

/** Returns the rule, or the reason why the line is invalid. */
function parseRule(line: string): Rule | string {
  if (isAbsolute(line)) return { kind: 'program', path: line };
  if (!line.startsWith('[')) return 'neither an absolute path nor a JSON array of strings';
  const command = parsedJson(line);
  if (!Array.isArray(command) || !command.every((part) => typeof part === 'string'))
    return 'not a JSON array of strings';
  return command.length === 0 ? 'an empty command' : { kind: 'command', command };
}

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
