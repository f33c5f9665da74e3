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
    const runtime = runtimeOrExit(options, { shares, watchdog, turns });
    run(runtime, { server: options, shares, watchdog, turns, listening: `, data in ${options.dataDir}` });
    break;
  }
  case 'control': {
    const { options } = parsed;
    const services = await servicesOrExit(options.aws);
    const watchdog = localWatchdog(log);
    const control = startControl(options, { ...ports, services });
    const shares = descriptorShares(descriptorLimit(), controlNeeds);
    const listening = `, table ${options.aws.table}`;
    run(control, { server: options, shares, watchdog, listening, close: services.close });
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
    run(worker, {
      listening: '',
      shares,
      watchdog,
      close: services.close,
      ...(options.server && { server: options.server }),
    });
  }
}

/** A line for the operator. It may name files and values of a configuration. */
function say(line: string): void {
  process.stderr.write(`${visibleLine(withoutUserinfo(line))}\n`);
}

function wayOutOf({ canaries }: { readonly canaries?: readonly Canary[] }): WayOut {
  return canaries ? { kind: 'named', canaries } : { kind: 'found', canaries: dnsServers() };
}

type Piece = {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly reload?: () => void;
  stop(): Promise<void>;
};

type Running = {
  readonly listening: string;
  /** If absent, the process does not listen. */
  readonly server?: ServerOptions;
  readonly shares: DescriptorShares;
  readonly close?: () => void;
  readonly watchdog: Watchdog;
  /** If absent, the server alone has a part of each turn. */
  readonly turns?: ClientTurns;
};

/** Of options that are valid and yet not what was meant. */
function warnOf({ secretHosts = new Map() }: { readonly secretHosts?: SecretHosts }): void {
  for (const line of unsetSecretLines(secretHosts)) say(`probelet: warning: ${line}`);
}

/** Runs until a signal, then stops in order. */
function run(piece: Piece, running: Running): void {
  const { server: options, close, watchdog } = running;
  const servers = options ? listen(piece, options, running) : [];
  const stop = async () => {
    watchdog.stopping();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await piece.stop();
    close?.();
  };
  stopOnSignal({ log, stop, ...(piece.reload && { reload: piece.reload }) });
}

/** Returns the server of the API, and that of supervisors if there is one. */
function listen(
  { fetch }: Piece,
  options: ServerOptions,
  { listening, shares, watchdog, turns = clientTurns(watchdog.begins) }: Omit<Running, 'server' | 'close'>,
): readonly Server[] {
  if (options.warning !== undefined) say(`probelet: warning: ${options.warning}`);
  const { host, port, healthzPort, token } = options;
  const isAuthorized = token === undefined ? undefined : tokenCheck(token);
  const api = listener(fetch, options, {
    ...{ option: 'port', port, connectionsMax: shares.connectionsMax, turns },
    ...(isAuthorized && { isAuthorized }),
    says: (url) => `probelet listens on ${url}${listening}`,
  });
  if (healthzPort === undefined) return [api];
  const supervisors = listener(
    onlyHealth(fetch),
    { host, ...(token !== undefined && { token }) },
    {
      // Of its own: what clients of the API have used up of a turn does not matter here.
      ...{
        option: 'healthz-port',
        port: healthzPort,
        connectionsMax: supervisorsMax,
        turns: clientTurns(watchdog.begins),
      },
      says: (url) => `probelet answers ${healthPath} on ${url}`,
    },
  );
  return [api, supervisors];
}

type Listening = Pick<ApiServerOptions, 'connectionsMax' | 'turns' | 'isAuthorized'> & {
  /** Which gave the port. */
  readonly option: string;
  readonly port: number;
  readonly says: (url: string) => string;
};

/** Exits if the port cannot be had. */
function listener(
  fetch: Piece['fetch'],
  { host: hostname, token }: Pick<ServerOptions, 'host' | 'token'>,
  { option, port: askedPort, says, ...serving }: Listening,
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
    say(`probelet: cannot listen on ${hostname}:${askedPort} (${error.code}): choose another with --${option}`);
    process.exit(exitFailed);
  });
  return server;
}

/** A data folder that cannot be used is an operator error, so this prints a message without a stack trace. */
function runtimeOrExit(options: LocalOptions, { shares, watchdog, turns }: Omit<Running, 'listening'>): Runtime {
  const { attribution } = watchdog;
  try {
    return startRuntime(options, { ...ports, wayOut: wayOutOf(options), shares, attribution, turns: turns?.known });
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
