/** Commands for exec probes, as they run on every machine with a POSIX shell. */
import type { Stage } from './stage.ts';
import type { World } from './world.ts';

const shell = (script: string): readonly string[] => ['/bin/sh', '-c', script];

export const succeeds = shell('exit 0');
export const fails = shell('exit 1');
export const exists = (file: ReturnType<Stage['file']>): readonly string[] => ['/bin/cat', file.path];

/**
 * Sleeps for much longer than any probe waits. It leaves a file while it hangs, or the clock of an injected world would
 * wait for it. `$$$$` in a manifest is the shell's `$$`, as in Kubernetes.
 */
const hang = (world: World, kind: 'hanging' | 'orphan', pid: string) =>
  `: > '${world.folder}'/${kind}-${pid}; exec sleep 600`;

export const hangingCommand = (world: World): readonly string[] => shell(hang(world, 'hanging', '$$$$'));

/** Ends at once with exit code 1 and leaves something behind that keeps its output open. */
export const failsWithOrphan = (world: World): readonly string[] =>
  shell(`/bin/sh -c "${hang(world, 'orphan', '\\$\\$')}" & exit 1`);
