/**
 * Descriptors that this process was started with and has no use for: a shell or a supervisor left them open, and a command would get them,
 * too. Node marks what it opens itself as close-on-exec, and what it inherits only up to the first gap after descriptor 15.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const standardMax = 2;
/** O_CLOEXEC of Linux on the machines that Node runs on; /proc writes flags in octal. */
const closeOnExec = 0o2000000;

/** Without Linux's /proc nothing is closed; on macOS Node's own way to start a process keeps all but its three. */
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

/** Not so for the descriptor that listed the others, which is closed. */
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
    // Closed meanwhile: just as well.
  }
}
