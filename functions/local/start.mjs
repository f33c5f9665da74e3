/**
 * Starts `main.ts` with Node's compile cache. With it, Node does not load its TypeScript compiler, which takes 25 MB
 * for the lifetime of the process, and starts in half the time. Plain JavaScript, because code that runs before the
 * cache is enabled must not need the compiler.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

/** Not Node's default in the temporary folder, where other users of the machine could plant code. */
const cacheFolder = join(import.meta.dirname, '../../node_modules/.cache/probelet');

/**
 * Small buffers share a slab (64 KiB by default), which lives as long as any of them. The buffers that each connection
 * keeps would hold hundreds of slabs.
 */
Buffer.poolSize = 8 * 1024;

// PID 1 of a container has no default signal actions, so without these a signal during the start would be lost.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, endEarly);

if (isFirstStart()) await compiled();
module.enableCompileCache(cacheFolder);
await import('./main.ts');

/**
 * Exits at once, because nothing runs yet that must be stopped. Later `stopOnSignal` adds a listener. This one stays,
 * because Node drops a pending signal when its last listener is removed.
 */
function endEarly(signal) {
  if (process.listenerCount(signal) > 1) return;
  const line = { level: 'info', time: new Date().toISOString(), signal, msg: 'stopped' };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.exit(0);
}

/**
 * On the first start after an installation, a child process compiles everything, so that this process stays as small as
 * on later starts.
 */
async function compiled() {
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, '--help'], { stdio: 'ignore' });
  // If the child fails, this process compiles for itself.
  await once(child, 'close').catch(() => undefined);
}

function isFirstStart() {
  try {
    return mkdirSync(cacheFolder, { recursive: true }) !== undefined;
  } catch {
    // The folder is not writable, so the process starts without a cache.
    return false;
  }
}
