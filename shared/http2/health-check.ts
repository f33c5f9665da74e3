/**
 * The health check of Go's HTTP/2 transport: a connection on which no frame has come for a while is pinged, and lost if
 * the answer does not come, whatever else does. Source: `readLoop` and `healthCheck` in golang.org/x/net,
 * http2/transport.go, with the times of `configureHTTP2Transport` in apimachinery, which kubelet's transport has.
 */
import { afterArrivals, type Clock } from '../lib/clock.ts';
import { frame, frameType } from './frames.ts';

/** Without a frame for so long, the peer is pinged. */
const readIdleMs = 30_000;
/** How long the peer has to answer a PING. */
const pingMs = 15_000;

/** Nothing is lost if two connections send the same: each has at most one PING under way. */
const payload = Buffer.from('probelet', 'latin1');
const ping: Uint8Array = frame(frameType.ping, {}, payload);

export type HealthCheckPorts = {
  readonly clock: Clock;
  readonly write: (frames: Uint8Array) => void;
  /** Called at most once, and not after `end`. */
  readonly silent: () => void;
};

/** Whether a connection that ends at `untilMs`, on the monotonic time, is ever checked. */
export const isHealthCheckDue = (clock: Clock, untilMs: number): boolean => untilMs - clock.monotonicMs() > readIdleMs;

/** Of one connection, from its making until `end`. */
export class HealthCheck {
  readonly #ports: HealthCheckPorts;
  #isOver = false;
  #frameMs: number;
  #cancelIdle: () => void;
  #cancelPing: (() => void) | undefined;

  constructor(ports: HealthCheckPorts) {
    this.#ports = ports;
    this.#frameMs = ports.clock.monotonicMs();
    this.#cancelIdle = this.#lookAfter(readIdleMs);
  }

  /** A whole frame has arrived, or a whole header block. */
  arrived(): void {
    this.#frameMs = this.#ports.clock.monotonicMs();
  }

  /** The peer has answered a PING. */
  answered(bytes: Uint8Array): void {
    if (!payload.equals(bytes)) return;
    this.#cancelPing?.();
    this.#cancelPing = undefined;
  }

  end(): void {
    this.#isOver = true;
    this.#cancelIdle();
    this.#cancelPing?.();
  }

  #lookAfter(delayMs: number): () => void {
    return this.#ports.clock.setTimer(delayMs, () => afterArrivals(this.#ports.clock, () => this.#look()));
  }

  /** One timer for all frames: most connections never see it end. */
  #look(): void {
    if (this.#isOver) return;
    const quietMs = this.#ports.clock.monotonicMs() - this.#frameMs;
    if (quietMs < readIdleMs) {
      this.#cancelIdle = this.#lookAfter(readIdleMs - quietMs);
      return;
    }
    this.#cancelIdle = this.#lookAfter(readIdleMs);
    // A reading without a frame in between does not come: the PING before has been answered, or has ended this.
    this.#cancelPing ??= this.#ports.clock.setTimer(pingMs, this.#ports.silent);
    this.#ports.write(ping);
  }
}
