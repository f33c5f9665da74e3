/**
 * Records which work a socket was opened for, so that its listeners run on behalf of that work
 * (shared/lib/attribution.ts).
 */
import type { Socket } from 'node:net';

type Resumes = () => void;

const resumesKey = Symbol('resumes');

type Attributed = Socket & { [resumesKey]?: Resumes };

export function attribute(socket: Attributed, resumes: Resumes | undefined): void {
  if (resumes) socket[resumesKey] = resumes;
}

/** Each listener of the socket calls the returned function first. */
export const resumesOf = (socket: Attributed): Resumes => socket[resumesKey] ?? unattributed;

const unattributed = (): void => undefined;
