/** One real listener that answers each path as its behaviour says and notes the arrivals. */
import { createServer } from 'node:http';
import { listenWith } from '../../support/tcp-server.ts';

export type Arrival = { readonly timeMs: number; readonly ok: boolean };

/** The answer to the arrival of this index (from 0), at this time. */
export type Behaviour = (index: number, timeMs: number) => boolean;

export type Probed = {
  readonly port: number;
  behave(path: string, behaviour: Behaviour): void;
  /** Oldest first. */
  arrivals(path: string): readonly Arrival[];
  close(): Promise<void>;
};

export async function startProbed(): Promise<Probed> {
  const behaviours = new Map<string, Behaviour>();
  const arrivals = new Map<string, Arrival[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const list = arrivals.get(path) ?? [];
    arrivals.set(path, list);
    const timeMs = Date.now();
    const ok = behaviours.get(path)?.(list.length, timeMs) ?? false;
    list.push({ timeMs, ok });
    response.writeHead(ok ? 200 : 500, { connection: 'close' }).end();
  });
  const { port, close } = await listenWith(server, '127.0.0.1');
  return {
    port,
    behave(path, behaviour) {
      behaviours.set(path, behaviour);
    },
    arrivals: (path) => arrivals.get(path) ?? [],
    close,
  };
}
