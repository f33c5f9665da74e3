/**
 * Which wire vectors are decided by milliseconds. A vector whose servers sleep until shortly before (or after) the probe's time-out says
 * nothing about the prober when other vectors keep the processor busy, so it runs alone.
 */
import type { Vector } from './runner.ts';

/** What sixteen vectors that are set up at once may add to the way of one probe, on a busy machine. */
const crowdDelayMs = 500;

type Actions = readonly { readonly sleepMs?: number }[] | null | undefined;
type Timed = {
  readonly servers?: readonly { readonly routes?: Readonly<Record<string, Actions>> }[];
  readonly server?: { readonly delayMs?: number; readonly acceptDelayMs?: number };
  readonly probe?: { readonly timeoutMs: number };
  readonly timeoutMs?: number;
  readonly expectAnyOf?: readonly {
    readonly requests?: readonly { readonly server?: number; readonly line?: string }[];
  }[];
};

/** True when the vector's servers sleep, and what they sleep comes close to the time-out. */
export function isTimeCritical(vector: Vector): boolean {
  const timed = vector as unknown as Timed;
  const timeoutMs = timed.probe?.timeoutMs ?? timed.timeoutMs ?? 0;
  return sleepsMs(timed).some((sleptMs) => sleptMs > 0 && Math.abs(timeoutMs - sleptMs) < crowdDelayMs);
}

/** How long the probe has to wait on its way, for each of the recorded outcomes. */
function sleepsMs({ server, servers = [], expectAnyOf = [] }: Timed): readonly number[] {
  const { delayMs = 0, acceptDelayMs = 0 } = typeof server === 'object' ? server : {};
  const slept = expectAnyOf.map(({ requests = [] }) =>
    // A server that speaks first sees no request; its actions stand under `*`.
    (requests.length === 0 ? [{}] : requests).reduce((sum, request) => sum + routeMs(servers, request), 0),
  );
  return [delayMs + acceptDelayMs, ...slept];
}

function routeMs(
  servers: NonNullable<Timed['servers']>,
  request: { readonly server?: number; readonly line?: string },
) {
  const { routes = {} } = servers[request.server ?? 0] ?? {};
  const actions = routes[request.line?.split(' ')[1] ?? '*'] ?? routes['*'] ?? [];
  return actions.reduce((sum, { sleepMs = 0 }) => sum + sleepMs, 0);
}
