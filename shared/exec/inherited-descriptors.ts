/**
 * Closes descriptors that a shell or supervisor left open in this process, because commands would inherit them. Node
 * opens its own descriptors with close-on-exec, but sets the flag on inherited ones only up to the first gap after
 * descriptor 15.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const standardMax = 2;
/** O_CLOEXEC on Linux, for the architectures that Node supports. /proc prints flags in octal. */
const closeOnExec = 0o2000000;

/**
 * Has no effect without Linux's /proc. On macOS, Node starts processes in a way that closes all descriptors but the
 * first three.
 */
export function closeInheritedDescriptors(): void {
  for (const descriptor of openDescriptors()) if (descriptor > standardMax && passesOn(descriptor)) close(descriptor);
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

/** False for the descriptor that listed the others, which is already closed. */
function passesOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}

function close(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // It has been closed meanwhile.
  }
}
