/**
 * Starts `main.ts` with Node's compile cache. With it Node need not load its TypeScript compiler, which takes 25 MB for as long as the
 * process lives, and is ready in half the time. Plain JavaScript: what runs before the cache is on must not need the compiler.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

/** Not Node's default below the system's temporary folder, where other users of the machine may put code in our place. */
const cacheFolder = join(import.meta.dirname, '../../node_modules/.cache/probelet');

/**
 * Small buffers share a slab, of 64 KiB by Node's default, which stays as long as any of them does. What each connection keeps of its own
 * would hold hundreds of slabs.
 */
Buffer.poolSize = 8 * 1024;

// PID 1 of a container gets no default action, so without these a signal during the start would be lost.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, endEarly);

if (isFirstStart()) await compiled();
module.enableCompileCache(cacheFolder);
await import('./main.ts');

/**
 * Nothing runs yet that has to be stopped. Afterwards `stopOnSignal` has a listener of its own. This one stays: Node drops a signal that is
 * pending when its last listener is removed.
 */
function endEarly(signal) {
  if (process.listenerCount(signal) > 1) return;
  const line = { level: 'info', time: new Date().toISOString(), signal, msg: 'stopped' };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.exit(0);
}

/** The first start after an installation has a child compile everything, so that its own memory is as small as that of later ones. */
async function compiled() {
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, '--help'], { stdio: 'ignore' });
  // Without the child it starts all the same, and compiles for itself.
  await once(child, 'close').catch(() => undefined);
}

function isFirstStart() {
  try {
    return mkdirSync(cacheFolder, { recursive: true }) !== undefined;
  } catch {
    // Nothing can be written here: it starts without a cache.
    return false;
  }
}
