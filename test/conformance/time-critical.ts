/**
 * How many wire vectors may run at once. A vector whose servers sleep until shortly before (or after) the probe's
 * time-out says nothing about the prober when other vectors keep the processor busy, so it runs alone. Any other that
 * sleeps runs beside a few.
 */
import type { Vector } from './runner.ts';

/**
 * Vectors on sockets mostly wait, but sixteen TLS handshakes at once take a busy machine longer than a time-out of 1 s.
 */
const wireAtOnce = 4;
const sleepingAtOnce = 2;
/** A vector with more connections one after the other needs much of its time-out for their handshakes. */
const connectionsBeside = 4;

/** What other vectors that are set up at the same time may add to the way of one probe, on a busy machine. */
const crowdDelayMs = 500;

type Actions = readonly { readonly sleepMs?: number }[] | null | undefined;
type Timed = {
  /** Of a server over HTTP/2. */
  readonly hello?: Actions;
  readonly reply?: Actions;
  /** Or of each of its connections. */
  readonly connections?: readonly { readonly hello?: Actions; readonly reply?: Actions }[];
  readonly servers?: readonly { readonly routes?: Readonly<Record<string, Actions>> }[];
  readonly server?: { readonly delayMs?: number; readonly acceptDelayMs?: number };
  readonly probe?: { readonly timeoutMs: number };
  readonly timeoutMs?: number;
  readonly expectAnyOf?: readonly {
    readonly requests?: readonly { readonly server?: number; readonly line?: string }[];
  }[];
};

/** How many vectors like this one may run at the same time. */
export function wireConcurrency(vector: Vector): number {
  if (isTimeCritical(vector) || hasManyConnections(vector as unknown as Timed)) return 1;
  return sleepsMs(vector as unknown as Timed).some((sleptMs) => sleptMs > 0) ? sleepingAtOnce : wireAtOnce;
}

const hasManyConnections = ({ connections = [] }: Timed): boolean => connections.length > connectionsBeside;

/** True when the vector's servers sleep, and what they sleep comes close to the time-out. */
export function isTimeCritical(vector: Vector): boolean {
  const timed = vector as unknown as Timed;
  const timeoutMs = timed.probe?.timeoutMs ?? timed.timeoutMs ?? 0;
  return sleepsMs(timed).some((sleptMs) => sleptMs > 0 && Math.abs(timeoutMs - sleptMs) < crowdDelayMs);
}

/** How long the probe has to wait on its way, for each of the recorded outcomes. */
function sleepsMs({
  server,
  servers = [],
  expectAnyOf = [],
  hello,
  reply,
  connections = [],
}: Timed): readonly number[] {
  const { delayMs = 0, acceptDelayMs = 0 } = typeof server === 'object' ? server : {};
  const slept = expectAnyOf.map(({ requests = [] }) =>
    // A server that speaks first sees no request; its actions stand under `*`.
    (requests.length === 0 ? [{}] : requests).reduce((sum, request) => sum + routeMs(servers, request), 0),
  );
  const played = [{ hello, reply }, ...connections].reduce(
    (sum, each) => sum + sleepMsOf(each.hello) + sleepMsOf(each.reply),
    0,
  );
  return [delayMs + acceptDelayMs, played, ...slept];
}

function routeMs(
  servers: NonNullable<Timed['servers']>,
  request: { readonly server?: number; readonly line?: string },
) {
  const { routes = {} } = servers[request.server ?? 0] ?? {};
  const actions = routes[request.line?.split(' ')[1] ?? '*'] ?? routes['*'] ?? [];
  return sleepMsOf(actions);
}

const sleepMsOf = (actions: Actions): number => (actions ?? []).reduce((sum, { sleepMs = 0 }) => sum + sleepMs, 0);
