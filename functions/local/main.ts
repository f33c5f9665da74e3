/**
 * `npm start`: all of probelet in one process, or one of the processes that share it. The AWS SDK is imported only if
 * it is needed, so that a single process neither waits for it nor keeps it in memory.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tokenCheck } from '../../shared/api/http/bearer-token.ts';
import type { SecretHosts } from '../../shared/core/spec/secret-hosts.ts';
import type { Canary } from '../../shared/holder/run.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { visibleLine, withoutUserinfo } from '../../shared/lib/visible-text.ts';
import type { Watchdog } from '../watchdog/watchdog.ts';
import { compileHere } from './compile-here.ts';
import { exitUsage } from './options/option-values.ts';
import { type AwsOptions, type LocalOptions, parseOptions, type ServerOptions } from './options/options.ts';
import type { AwsServices } from './process/aws-services.ts';
import { dnsServers, type WayOut } from './process/canaries.ts';
import { startControl } from './process/control.ts';
import {
  aloneNeeds,
  controlNeeds,
  type DescriptorShares,
  descriptorLimit,
  descriptorShares,
  supervisorsMax,
  workerNeeds,
} from './process/descriptors.ts';
import { unsetSecretLines } from './process/environment-secrets.ts';
import { hangFile } from './process/hang-file.ts';
import { jsonLog } from './process/json-log.ts';
import { onlyLocalCallers } from './process/local-callers.ts';
import { type Runtime, startRuntime } from './process/runtime.ts';
import { stopOnSignal } from './process/stop-signals.ts';
import { localWatchdog, rememberedInTable } from './process/watched.ts';
import { startWorker } from './process/worker.ts';
import { type ApiServerOptions, apiServer } from './server/api-server.ts';
import { healthPath } from './server/client-stream.ts';
import { type ClientTurns, clientTurns } from './server/client-turns.ts';
import { onlyHealth } from './server/health-listener.ts';

/**
 * Connections that may wait to be accepted. A busy loop accepts some 300 a second, so that more would wait for longer
 * than a client does, and nearly all that wait would be of clients that have gone. Beyond that the kernel drops a SYN,
 * which its client repeats after 1 s.
 */
const backlogMax = 256;
/** The exit code of a start that fails; that of wrong use is another one. */
const exitFailed = 1;

compileHere();
const log = jsonLog();
// As for the log: a write error must not end the process.
process.stderr.on('error', () => undefined);
const ports = { clock: systemClock, random: systemRandom, log };

const parsed = parseOptions(process.argv.slice(2));
switch (parsed.kind) {
  case 'help':
    process.stdout.write(parsed.help);
    break;
  case 'invalid':
    for (const line of parsed.message.split('\n')) say(`probelet: ${line}`);
    say("'npm start -- --help', or 'probelet start --help', shows all options.");
    process.exitCode = exitUsage;
    break;
  case 'alone': {
    const { options } = parsed;
    warnOf(options);
    const shares = descriptorShares(descriptorLimit(), aloneNeeds);
    const watchdog = localWatchdog(log, { remember: { file: hangFile(options.dataDir) } });
    const turns = clientTurns(watchdog.begins);
    const runtime = runtimeOrExit(options, shares, watchdog, turns);
    const servers = listen(runtime.fetch, options, `, data in ${options.dataDir}`, shares, watchdog, turns);
    stopInOrder(watchdog, servers, runtime);
    break;
  }
  case 'control': {
    const { options } = parsed;
    const services = await servicesOrExit(options.aws);
    const watchdog = localWatchdog(log);
    const control = startControl(options, { ...ports, services });
    const shares = descriptorShares(descriptorLimit(), controlNeeds);
    const servers = listen(control.fetch, options, `, table ${options.aws.table}`, shares, watchdog);
    stopInOrder(watchdog, servers, control, services);
    break;
  }
  case 'worker': {
    const { options } = parsed;
    warnOf(options);
    const services = await servicesOrExit(options.aws);
    const shares = descriptorShares(descriptorLimit(), workerNeeds);
    const watchdog = localWatchdog(log, { remember: rememberedInTable(options.aws) });
    const { attribution } = watchdog;
    const worker = startWorker(options, { ...ports, services, wayOut: wayOutOf(options), shares, attribution });
    say(`probelet works for ${options.aws.queueUrl}, table ${options.aws.table}`);
    const servers = options.server ? listen(worker.fetch, options.server, '', shares, watchdog) : [];
    stopInOrder(watchdog, servers, worker, services);
  }
}

/** A line for the operator. It may name files and values of a configuration. */
function say(line: string): void {
  process.stderr.write(`${visibleLine(withoutUserinfo(line))}\n`);
}

function wayOutOf({ canaries }: { readonly canaries?: readonly Canary[] }): WayOut {
  return canaries ? { kind: 'named', canaries } : { kind: 'found', canaries: dnsServers() };
}

/** Warns of options that are valid and yet not what was meant. */
function warnOf({ secretHosts = new Map() }: { readonly secretHosts?: SecretHosts }): void {
  for (const line of unsetSecretLines(secretHosts)) say(`probelet: warning: ${line}`);
}

/** What serves the requests: one process alone, a control process or a worker. */
type Part = { readonly reload?: () => void; stop(): Promise<void> };

/** On a signal: the servers first, so that no request meets what has stopped, and what others use last. */
function stopInOrder(
  watchdog: Watchdog,
  servers: readonly Server[],
  part: Part,
  services?: Pick<AwsServices, 'close'>,
): void {
  const stop = async () => {
    watchdog.stopping();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await part.stop();
    services?.close();
  };
  stopOnSignal({ log, stop, ...(part.reload && { reload: part.reload }) });
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** Returns the server of the API, and that of supervisors if there is one. `place`: what the API is about. */
function listen(
  fetch: Fetch,
  options: ServerOptions,
  place: string,
  { connectionsMax }: DescriptorShares,
  { begins }: Watchdog,
  turns = clientTurns(begins),
): readonly Server[] {
  if (options.warning !== undefined) say(`probelet: warning: ${options.warning}`);
  const { port, healthzPort, token } = options;
  const isAuthorized = token === undefined ? undefined : tokenCheck(token);
  const says = (url: string) => `probelet listens on ${url}${place}`;
  const serving = { connectionsMax, turns, ...(isAuthorized && { isAuthorized }) };
  const api = listener(fetch, options, { option: '--port', port, says }, serving);
  if (healthzPort === undefined) return [api];
  const answers = (url: string) => `probelet answers ${healthPath} on ${url}`;
  const supervisors = listener(
    onlyHealth(fetch),
    options,
    { option: '--healthz-port', port: healthzPort, says: answers },
    // Turns of its own: what clients of the API have used up of a turn does not matter here.
    { connectionsMax: supervisorsMax, turns: clientTurns(begins) },
  );
  return [api, supervisors];
}

/** The option that gave the port, and what is said once it listens there. */
type Port = { readonly option: string; readonly port: number; readonly says: (url: string) => string };

/** Exits if the port cannot be had. */
function listener(
  fetch: Fetch,
  { host: hostname, token }: ServerOptions,
  { option, port: askedPort, says }: Port,
  serving: Pick<ApiServerOptions, 'connectionsMax' | 'turns' | 'isAuthorized'>,
): Server {
  let boundPort = askedPort;
  const bound = () => ({ host: hostname, port: boundPort });
  const answer = token === undefined ? onlyLocalCallers(fetch, bound) : fetch;
  const server = apiServer(answer, { hostname, log, ...serving });
  server.listen({ port: askedPort, host: hostname, backlog: backlogMax }, () => {
    const { address, port } = server.address() as AddressInfo;
    boundPort = port;
    say(says(`http://${address.includes(':') ? `[${address}]` : address}:${port}`));
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    say(`probelet: cannot listen on ${hostname}:${askedPort} (${error.code}): choose another with ${option}`);
    process.exit(exitFailed);
  });
  return server;
}

/** A data folder that cannot be used is an operator error, so this prints a message without a stack trace. */
function runtimeOrExit(
  options: LocalOptions,
  shares: DescriptorShares,
  { attribution }: Watchdog,
  turns: ClientTurns,
): Runtime {
  try {
    return startRuntime(options, { ...ports, wayOut: wayOutOf(options), shares, attribution, turns: turns.known });
  } catch (error) {
    say(`probelet: ${error instanceof Error ? error.message : String(error)}`);
    return process.exit(exitFailed);
  }
}

/** Exits if a service rejects the options. A service that does not answer may do so later. */
async function servicesOrExit(options: AwsOptions): Promise<AwsServices> {
  const { awsServices } = await import('./process/aws-services.ts');
  const services = awsServices(options, ports);
  const fault = await services.fault();
  if (fault === undefined) return services;
  say(`probelet: ${fault}`);
  return process.exit(fault.startsWith('--region') ? exitUsage : exitFailed);
}
