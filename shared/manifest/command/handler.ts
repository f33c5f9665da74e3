/**
 * The handler that asks from outside a container what a command in it asks over the network. Only what is known is
 * accepted: of the shell's grammar, of programs and of their options. Everything else stays a command.
 */

import { type NetworkToolName, posixShells } from '../../core/spec/probe-command.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { probeTextLengthMax } from '../limits.ts';
import { curl } from './curl.ts';
import { grpcHealthProbe } from './grpc-health-probe.ts';
import { nc } from './nc.ts';
import { asks, type Reading, runs, shown, type Tool } from './reading.ts';
import { scriptCommand } from './shell-script.ts';
import { wget } from './wget.ts';

/** Hosts that mean the container itself. */
export const localNames = ['localhost', '127.0.0.1', '[::1]', '0.0.0.0'] as const;

const tools: { readonly [program in NetworkToolName]: Tool } = {
  curl,
  wget,
  nc,
  ncat: nc,
  netcat: nc,
  grpc_health_probe: grpcHealthProbe,
  'grpc-health-probe': grpcHealthProbe,
};

/** `names`: hosts that mean the container itself. */
export function handlerOfCommand(command: readonly string[], names: readonly string[]): Reading {
  if (command.reduce((sum, word) => sum + word.length, 0) > probeTextLengthMax)
    return runs(`it has more than ${probeTextLengthMax} characters`);
  const [program = '', option, script = '', ...more] = command;
  const shell = programName(program);
  if (!posixShells.has(shell)) return askedBy(command, names);
  if (option !== '-c' && option !== '-ec') return runs(`${shown(shell)} runs something other than "-c" and a script`);
  if (more.length > 0) return runs(`only ${shown(script)} is the script of ${shown(shell)}`);
  const found = scriptCommand(script, shell === 'bash');
  return found.kind === 'other' ? runs(found.reason) : askedBy(found.words, names);
}

function askedBy(words: readonly string[], names: readonly string[]): Reading {
  // Kubernetes replaces $(NAME), and in its files and in those of Compose $$ stands for $.
  if (words.some((word) => word.includes('$'))) return runs('"$" may stand for a variable');
  const [program = '', limit = '', ...limited] = words;
  if (programName(program) !== 'timeout') return toolReading(words, names);
  if (!/^\d{1,6}(\.\d{1,3})?[smhd]?$/.test(limit)) return runs(`the meaning of ${shown(limit)} is not known`);
  const reading = toolReading(limited, names);
  return reading.kind === 'runs' ? reading : asks(reading.handler, [...reading.differences, 'time']);
}

function toolReading([program = '', ...args]: readonly string[], names: readonly string[]): Reading {
  const tool = ownProperty<Tool>(tools, programName(program));
  return tool ? tool(args, names) : runs(`it is not known what ${shown(program)} asks`);
}

/** Empty: it lies in a folder that depends on where the command runs. */
const programName = (program: string): string => /^(?:\/(?:[\w.-]+\/)*)?([\w-]+)$/.exec(program)?.[1] ?? '';
