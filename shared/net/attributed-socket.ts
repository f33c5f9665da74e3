/** Which work a socket was opened for: its listeners run on behalf of that (shared/lib/attribution.ts). */
import type { Socket } from 'node:net';

type Resumes = () => void;

const resumesKey = Symbol('resumes');

type Attributed = Socket & { [resumesKey]?: Resumes };

export function attribute(socket: Attributed, resumes: Resumes | undefined): void {
  if (resumes) socket[resumesKey] = resumes;
}

/** To be called first thing by each listener of the socket. */
export const resumesOf = (socket: Attributed): Resumes => socket[resumesKey] ?? nobodyAsks;

const nobodyAsks = (): void => undefined;
