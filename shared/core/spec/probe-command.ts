/** Finds the tools in a command that ask over the network what a handler asks without a process. */

import { ownProperty } from '../../lib/own-property.ts';
import type { HandlerKind } from './handlers.ts';

export type NetworkTool = { readonly name: string; readonly handler: HandlerKind };

/** By each name that the program is called by. The converter reads the same programs' options. */
const handlersByTool = {
  curl: 'httpGet',
  wget: 'httpGet',
  grpc_health_probe: 'grpc',
  'grpc-health-probe': 'grpc',
  nc: 'tcpSocket',
  ncat: 'tcpSocket',
  netcat: 'tcpSocket',
} as const satisfies { readonly [tool: string]: HandlerKind };

export type NetworkToolName = keyof typeof handlersByTool;

/** Shells that read a script of POSIX's grammar alike. */
export const posixShells: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash']);

/** In the command's order. Of a shell's script each word counts, else only the program. */
export function toolsOf(command: readonly string[]): readonly NetworkTool[] {
  const [program = '', ...args] = command;
  const words = isShell(baseName(program)) ? args.flatMap((script) => script.split(/[\s;&|()`]+/)) : [program];
  return words.flatMap((word) => {
    const name = baseName(word);
    const handler = ownProperty<HandlerKind>(handlersByTool, name);
    return handler ? [{ name, handler }] : [];
  });
}

const isShell = (program: string): boolean => posixShells.has(program) || program === 'zsh';

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
