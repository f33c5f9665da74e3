/** The connections to one server: pooled, through a proxy or over a Unix socket; and bodies, read up to a limit. */
import { isIP } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';

export type ConnectionOptions = {
  readonly url: URL;
  /** If given, it is dialed instead of the host of the URL. */
  readonly socketPath?: string | undefined;
  readonly timeoutMs: number;
  readonly env: { readonly [name: string]: string | undefined };
};

/** At once; further requests wait. */
const connectionsMax = 8;

/** As in Go, which kubectl is written in, a proxy is never asked for an address of this machine. */
export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));

/** The caller closes it. */
export function connectionsTo({ url, socketPath, timeoutMs, env }: ConnectionOptions): Dispatcher {
  const options = { connections: connectionsMax, connectTimeout: timeoutMs };
  if (socketPath !== undefined) return new Agent({ ...options, connect: { socketPath, timeout: timeoutMs } });
  const httpProxy = env.http_proxy ?? env.HTTP_PROXY ?? '';
  const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY ?? '';
  if (isLoopback(url) || (httpProxy === '' && httpsProxy === '')) return new Agent(options);
  return new EnvHttpProxyAgent({ ...options, httpProxy, httpsProxy, noProxy: env.no_proxy ?? env.NO_PROXY ?? '' });
}

/** At most one piece more than `bytesMax`, so that the caller sees that there is more. The rest is not read. */
export async function boundedBytes(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(chunks);
}

/** undefined: it has more bytes. */
export async function boundedText(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string | undefined> {
  const bytes = await boundedBytes(body, bytesMax);
  return bytes.length > bytesMax ? undefined : bytes.toString('utf8');
}
