/** `npm start`: the whole product in one process. */
import { serve } from '@hono/node-server';
import { pino } from 'pino';
import { systemClock } from '../../shared/lib/clock.ts';
import type { Log } from '../../shared/lib/log.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { dnsServers } from './canaries.ts';
import { jsonLog } from './json-log.ts';
import { type LocalOptions, parseOptions, usage } from './options.ts';
import { type Runtime, startRuntime } from './runtime.ts';

/** Exit codes of the command line: 1 it could not run, 2 it was called wrongly. */
const exitFailed = 1;
const exitUsage = 2;
/** A stop that takes longer than this is cut short: everything that counts is durable already. */
const stopMaxMs = 10_000;

const parsed = parseOptions(process.argv.slice(2));
switch (parsed.kind) {
  case 'help':
    process.stdout.write(usage);
    break;
  case 'invalid':
    process.stderr.write(`probelet: ${parsed.message}\n\n${usage}`);
    process.exitCode = exitUsage;
    break;
  case 'ok':
    start(parsed.options);
}

function start(options: LocalOptions): void {
  const log = jsonLog(pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }));
  const runtime = runtimeOrExit(options, log);
  const server = serve({ fetch: runtime.fetch, hostname: options.host, port: options.port }, ({ address, port }) => {
    const host = address.includes(':') ? `[${address}]` : address;
    process.stderr.write(`probelet listens on http://${host}:${port}, data in ${options.dataDir}\n`);
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    process.stderr.write(
      `probelet: cannot listen on ${options.host}:${options.port} (${error.code}): choose another with --port\n`,
    );
    process.exit(exitFailed);
  });
  const stop = () => {
    setTimeout(() => process.exit(exitFailed), stopMaxMs).unref();
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
    void runtime.stop().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}

/** A file that cannot be used is the caller's to mend: a message, not a stack. */
function runtimeOrExit(options: LocalOptions, log: Log): Runtime {
  try {
    return startRuntime(options, { clock: systemClock, random: systemRandom, log, wayOut: dnsServers() });
  } catch (error) {
    process.stderr.write(`probelet: ${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(exitFailed);
  }
}
