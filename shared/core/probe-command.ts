/** Finds the tools in a command that ask over the network what a handler asks without a process. */
import type { HandlerKind } from './handlers.ts';
import { ownProperty } from './own-property.ts';

export type NetworkTool = { readonly name: string; readonly handler: HandlerKind };

const handlersByTool: { readonly [tool: string]: HandlerKind } = {
  curl: 'httpGet',
  wget: 'httpGet',
  grpc_health_probe: 'grpc',
  'grpc-health-probe': 'grpc',
  nc: 'tcpSocket',
  ncat: 'tcpSocket',
  netcat: 'tcpSocket',
};

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash', 'zsh']);

/** In the command's order. Of a shell's script each word counts, else only the program. */
export function toolsOf(command: readonly string[]): readonly NetworkTool[] {
  const [program = '', ...args] = command;
  const words = shells.has(baseName(program)) ? args.flatMap((script) => script.split(/[\s;&|()`]+/)) : [program];
  return words.flatMap((word) => {
    const name = baseName(word);
    const handler = ownProperty(handlersByTool, name);
    return handler ? [{ name, handler }] : [];
  });
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
