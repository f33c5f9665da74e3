/** Targets whose answers a test decides: one HTTP server, a path for each. */
import { createServer } from 'node:http';
import { closeServer, listenOnLoopback } from './loopback.ts';

export type DecidedTargets = {
  /** The names of the targets that answer badly. */
  readonly down: Set<string>;
  specOf: (name: string) => object;
  /** A manifest for each name with its labels. */
  manifests: (labels: { readonly [name: string]: object }) => string;
  close: () => Promise<void>;
};

export async function decidedTargets(): Promise<DecidedTargets> {
  const down = new Set<string>();
  const server = createServer(({ url = '' }, response) => response.writeHead(down.has(url.slice(1)) ? 503 : 200).end());
  const port = await listenOnLoopback(server);
  const specOf = (name: string): object => {
    const readinessProbe = { httpGet: { path: `/${name}`, port }, periodSeconds: 1, failureThreshold: 1 };
    return { host: '127.0.0.1', readinessProbe };
  };
  return {
    ...{ down, specOf },
    manifests: (labelled) =>
      Object.entries(labelled)
        .map(([name, labels]) => JSON.stringify({ metadata: { name, labels }, spec: specOf(name) }))
        .join('\n---\n'),
    close: () => closeServer(server),
  };
}
