/**
 * Starts `main.ts` with the options of Node that keep its memory small, as one file, with Node's compile cache: in half
 * the time, and with 37 MB less for the lifetime of the process, 25 of them Node's TypeScript compiler. `bundle.ts`
 * makes the file when a source has changed; the npm package has it in `program`. Plain JavaScript, because code that
 * runs before must not need the compiler.
 */
import './require-node.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
/** Not Node's default in the temporary folder, where other users of the machine could plant code. */
const cacheFolder = join(root, 'node_modules/.cache/probelet');

becomeSmall();

/**
 * Small buffers share a slab (64 KiB by default), which lives as long as any of them. The buffers that each connection
 * keeps would hold hundreds of slabs.
 */
Buffer.poolSize = 8 * 1024;

// PID 1 of a container has no default signal actions, so without these a signal during the start would be lost.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, endEarly);

// By default Node opens its debugger on SIGUSR1, where every user of the machine could run code in this process.
process.on('SIGUSR1', () => undefined);

const program = await bundled();
module.enableCompileCache(cacheFolder);
await (program === undefined ? import('./main.ts') : import(pathToFileURL(program).href));

/**
 * Begins again with what `node-options.json` says (docs/operating.md, Memory of one process), unless this process has
 * it. The pid stays. Options that are given come last, so that they win; so do variables that are set.
 */
function becomeSmall() {
  const { options, variables } = JSON.parse(readFileSync(join(import.meta.dirname, 'node-options.json'), 'utf8'));
  const { execve, execPath, execArgv, argv, env } = process;
  const hasOptions = options.every((option) => execArgv.includes(option));
  const hasVariables = Object.keys(variables).every((name) => env[name] !== undefined);
  // Windows cannot replace a process: there it takes more memory.
  if (execve === undefined || (hasOptions && hasVariables)) return;
  execve(execPath, [execPath, ...options, ...execArgv, ...argv.slice(1)], { ...variables, ...env });
}

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

/** The bundle of the sources as they are. undefined: there is none and none can be made, so the sources run. */
async function bundled() {
  const packed = join(import.meta.dirname, 'program/main.mjs');
  if (existsSync(packed)) return packed;
  const current = currentBundle();
  if (current !== undefined || !canBundle()) return current;
  const make = [...process.execArgv, join(import.meta.dirname, 'bundle.ts'), cacheFolder];
  await once(spawn(process.execPath, make, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close').catch(() => undefined);
  return currentBundle();
}

function currentBundle() {
  try {
    const { folder, sources } = JSON.parse(readFileSync(join(cacheFolder, 'program.json'), 'utf8'));
    for (const [path, size, mtimeMs] of sources) {
      const now = statSync(join(root, path));
      if (now.size !== size || now.mtimeMs !== mtimeMs) return undefined;
    }
    const path = join(cacheFolder, folder, 'main.mjs');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Not where the folder cannot be written, or without the packages of a developer. */
function canBundle() {
  try {
    mkdirSync(cacheFolder, { recursive: true });
    accessSync(cacheFolder, constants.W_OK);
    import.meta.resolve('esbuild');
    return true;
  } catch {
    return false;
  }
}
