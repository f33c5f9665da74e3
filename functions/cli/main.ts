#!/usr/bin/env node
/** The program `probelet`. */
import '../local/require-node.mjs';
import module from 'node:module';
import { join } from 'node:path';

const { XDG_CACHE_HOME = '', HOME = '' } = process.env;
const caches = XDG_CACHE_HOME === '' && HOME !== '' ? join(HOME, '.cache') : XDG_CACHE_HOME;
// What Node has compiled is kept, which halves the time of a call. Node's own default is in the temporary folder, where
// other users of the machine could plant code. The imports come later, or they would be compiled before.
if (caches !== '') module.enableCompileCache(join(caches, 'probelet'));
const { processIo } = await import('./io.ts');
const { runCli } = await import('./program.ts');

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCli(process.argv.slice(2), processIo());
