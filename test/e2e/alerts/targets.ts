/** Targets whose answers a test decides: one HTTP server, a path for each. */
import { createServer } from 'node:http';
import { closeServer, listenOnLoopback } from './loopback.ts';

export type DecidedTargets = {
  /** Whether each target answers well. */
  isUp: boolean;
  /** A manifest for each name with its labels. */
  manifests: (labels: { readonly [name: string]: object }) => string;
  close: () => Promise<void>;
};

export async function decidedTargets(): Promise<DecidedTargets> {
  const targets = { isUp: true };
  const server = createServer((_, response) => response.writeHead(targets.isUp ? 200 : 503).end());
  const port = await listenOnLoopback(server);
  const readinessProbe = { httpGet: { path: '/', port }, periodSeconds: 1, failureThreshold: 1 };
  return Object.assign(targets, {
    manifests: (labels: { readonly [name: string]: object }) =>
      Object.entries(labels)
        .map(([name, own]) =>
          JSON.stringify({ metadata: { name, labels: own }, spec: { host: '127.0.0.1', readinessProbe } }),
        )
        .join('\n---\n'),
    close: () => closeServer(server),
  });
}
