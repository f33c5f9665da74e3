/** The handler that asks from outside a container what a command in it asks over the network. */
import { toolsOf } from '../core/probe-command.ts';
import { type Members, textOf } from './values.ts';
import { splitWords } from './words.ts';

/** Hosts that mean the container itself. */
export const localNames = ['localhost', '127.0.0.1', '[::1]', '0.0.0.0'] as const;

/** `names`: hosts that mean the container itself. Undefined: no handler asks the same. */
export function handlerOfCommand(command: readonly string[], names: readonly string[]): Members | undefined {
  const [shell = '', option = '', script = '', ...more] = command;
  const isScript = /(^|\/)(ba|da|a)?sh$/.test(shell) && option === '-c' && more.length === 0;
  return askedBy(isScript ? (splitWords(script) ?? []) : command, names);
}

/** Options with which a tool asks for more than a handler can. */
const beyondHandlers: ReadonlySet<string> = new Set([
  ...['-X', '--request', '-d', '--data', '--post-data', '--post-file', '-u', '--user', '-H', '--header'],
  ...['--method', '--unix-socket', '-x', '--proxy', '-tls', '-alts', '-spiffe'],
]);

/** Ends of a script that only say how it ends. */
const endings: ReadonlySet<string> = new Set(['|| exit 1', '|| false', '|| exit -1', '|| kill 1']);

function askedBy(words: readonly string[], names: readonly string[]): Members | undefined {
  const end = words.indexOf('||');
  const command = end < 0 ? words : words.slice(0, end);
  if (end >= 0 && !endings.has(words.slice(end).join(' '))) return undefined;
  const isMore = command.some((word) => /[|;&$()<>`]/.test(word) && !word.includes('://'));
  const [program = '', ...args] = command;
  const [tool] = toolsOf([program]);
  if (!tool || isMore || args.some((word) => beyondHandlers.has(word.split('=')[0] ?? ''))) return undefined;
  switch (tool.handler) {
    case 'httpGet':
      return httpGet(args, names);
    case 'grpc':
      return grpc(args, names);
    case 'tcpSocket':
      return tcpSocket(args, names);
    default:
      return undefined;
  }
}

function httpGet(args: readonly string[], names: readonly string[]): Members | undefined {
  const urls = args.filter((word) => word.includes('://') || /^(localhost|127\.0\.0\.1)(:|\/|$)/.test(word));
  const [text = ''] = urls;
  const written = text.includes('://') ? text : `http://${text}`;
  const url = urls.length === 1 && URL.canParse(written) ? new URL(written) : undefined;
  if (!url || !names.includes(url.hostname) || url.username !== '') return undefined;
  const isHttps = url.protocol === 'https:';
  if (!isHttps && url.protocol !== 'http:') return undefined;
  const port = url.port === '' ? (isHttps ? 443 : 80) : Number(url.port);
  const path = url.pathname + url.search;
  return { httpGet: { path, port, ...(isHttps && { scheme: 'HTTPS' }) } };
}

function tcpSocket(args: readonly string[], names: readonly string[]): Members | undefined {
  const [host = '', port = '', ...more] = args.filter((word) => !word.startsWith('-'));
  const isOne = names.includes(host) && /^\d{1,5}$/.test(port) && more.length === 0;
  return isOne && args.includes('-z') ? { tcpSocket: { port: Number(port) } } : undefined;
}

function grpc(args: readonly string[], names: readonly string[]): Members | undefined {
  const options = new Map<string, string>();
  for (const [index, word] of args.entries()) {
    const [name = '', value] = word.split('=');
    if (name.startsWith('-')) options.set(name.replace(/^--?/, ''), value ?? args[index + 1] ?? '');
  }
  const [host, port = '', ...more] = (options.get('addr') ?? '').split(':');
  const isOne = (host === '' || names.includes(host ?? '')) && /^\d{1,5}$/.test(port) && more.length === 0;
  const service = textOf(options.get('service'));
  return isOne ? { grpc: { port: Number(port), ...(service !== undefined && { service }) } } : undefined;
}
