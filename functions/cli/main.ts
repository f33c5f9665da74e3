#!/usr/bin/env node
/** The program `probelet`. */
import '../local/require-node.mjs';
import './compile-cache.mjs';

// Later than what they need, or they would be compiled before it is there.
const { processIo } = await import('./io.ts');
const { runCli } = await import('./program.ts');

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runCli(process.argv.slice(2), processIo());
