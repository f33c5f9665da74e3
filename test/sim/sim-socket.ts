/** Sockets of the simulated network, as far as the product's dialer uses them. Peers send nothing. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Scheduler } from './clock.ts';
import type { Caller } from './process.ts';

/** What a dial comes to. `silent`: nothing comes back, and the dialer's deadline has to end it. */
export type DialAnswer =
  | { readonly kind: 'accepted' | 'silent'; readonly ms: number }
  | { readonly kind: 'failed'; readonly ms: number; readonly code: string };

export type SimSocketPorts = {
  readonly scheduler: Scheduler;
  readonly caller: Caller;
  readonly answer: (address: string, port: number) => DialAnswer;
};

/** What the trace calls the end of a destroyed socket, which no code waits for. */
export const closing = 'socket closes';

export function simSocket({ scheduler, caller, answer }: SimSocketPorts): Socket {
  const events = new EventEmitter();
  let isDestroyed = false;
  let giveUp = (): void => undefined;
  const socket = Object.assign(events, {
    remoteAddress: undefined as string | undefined,
    connect({ host, port }: { readonly host: string; readonly port: number }) {
      void connect(host, port);
      return socket;
    },
    destroy() {
      if (isDestroyed) return socket;
      isDestroyed = true;
      giveUp();
      // A turn of the event loop later, as a real one.
      scheduler.after(0, { label: closing, life: caller.life, deliver: () => events.emit('close') });
      return socket;
    },
  });
  const connect = async (host: string, port: number) => {
    const coming = answer(host, port);
    if (coming.kind === 'silent') return;
    await caller.call('probe tcp', (reply) => {
      // Destroyed while the process stood still: no answer is awaited.
      giveUp = reply(isDestroyed ? 0 : coming.ms, () => undefined);
    });
    if (isDestroyed) return;
    if (coming.kind === 'accepted') socket.remoteAddress = host;
    const error = coming.kind === 'failed' && Object.assign(new Error(coming.code), { code: coming.code });
    if (error) events.emit('error', error);
    else events.emit('connect');
  };
  return socket as unknown as Socket;
}
