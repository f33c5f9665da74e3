/**
 * What the prober's own machine lacks when it refuses a socket or a process. Nothing of that is the target's fault, and
 * all of it may be over a moment later.
 */

/**
 * `sockets`: with fewer sockets in flight there is enough. `other`: fewer sockets do not help, because it is local
 * ports for one peer, an address of the peer's family, or processes.
 */
export type Shortage = 'sockets' | 'other';

const shortages: Readonly<Record<string, Shortage>> = {
  EMFILE: 'sockets',
  ENFILE: 'sockets',
  ENOBUFS: 'sockets',
  ENOMEM: 'sockets',
  EAGAIN: 'other',
  EADDRNOTAVAIL: 'other',
};

/** The shortage that a system error code names; undefined: none. */
export const shortageOf = (code: string | undefined): Shortage | undefined =>
  code !== undefined && Object.hasOwn(shortages, code) ? shortages[code] : undefined;
