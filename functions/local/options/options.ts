/** What a command line of `npm start` asks for, in each mode. */
import { CommanderError } from 'commander';
import type { LayoutContext } from '../../../shared/core/shards/layout.ts';
import type { QuotaLimits } from '../../../shared/core/shards/quota.ts';
import type { SecretHosts } from '../../../shared/core/spec/secret-hosts.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { type ConfigSetup, readConfigFile } from '../config/config-file.ts';
import {
  type AwsEndpoints,
  InvalidOption,
  isLoopback,
  readAllowList,
  readToken,
  tokenFileWarning,
} from './option-values.ts';
import { type Given, longName, type OptionName, StartCommand, type StartMode } from './start-command.ts';

/** The AWS services, or emulators, that several processes share. */
export type AwsOptions = {
  readonly table: string;
  readonly queueUrl: string;
  /** If absent, events go to status-sync only. */
  readonly bus?: string;
  /** Defaults to the environment's region. */
  readonly region?: string;
  /** Defaults to AWS's endpoints. */
  readonly endpoints: AwsEndpoints;
};

/** Where a process listens, and the token that it requires. */
export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  /** Where a second listener answers `/healthz` alone. If absent, there is none. */
  readonly healthzPort?: number;
  readonly token?: string;
  /** A warning for the operator that does not prevent the start. */
  readonly warning?: string;
};

export type LocalOptions = ServerOptions & {
  readonly dataDir: string;
  /** If absent, the shard is always held. */
  readonly mode?: LayoutContext['mode'];
  /** If absent, exec probes are refused. */
  readonly allowExec?: AllowList;
  /** If absent, no secret may be sent. */
  readonly secretHosts?: SecretHosts;
  /** Defaults to the machine's DNS servers that answer over TCP. */
  readonly canaries?: readonly Canary[];
  /** Whether HTTPS probes resume TLS sessions; default false. */
  readonly tlsSessionResumption?: boolean;
  /** Overrides of the default limits. */
  readonly quotas?: Partial<QuotaLimits>;
  /** Whether each target has metrics of its own; default true. */
  readonly targetMetrics?: boolean;
  /** If absent, targets come by the API alone, and no alerts are sent. */
  readonly config?: ConfigSetup;
};

export type ControlOptions = ServerOptions & {
  readonly aws: AwsOptions;
  /** The release that should run; empty for any. */
  readonly release: string;
  /** If absent, the mode follows from the probes' periods. */
  readonly mode?: LayoutContext['mode'];
  /** The commands that the workers allow. Absent if unknown. */
  readonly allowExec?: AllowList;
  /** The hosts to which the workers may send secrets. Absent if unknown. */
  readonly secretHosts?: SecretHosts;
  /** Overrides of the default limits. */
  readonly quotas?: Partial<QuotaLimits>;
};

export type WorkerOptions = {
  readonly aws: AwsOptions;
  readonly release: string;
  /** The largest number of shards held at once. */
  readonly concurrency: number;
  readonly allowExec?: AllowList;
  /** If absent, no secret may be sent. */
  readonly secretHosts?: SecretHosts;
  /** Defaults to the machine's DNS servers that answer over TCP. */
  readonly canaries?: readonly Canary[];
  /** Whether HTTPS probes resume TLS sessions; default false. */
  readonly tlsSessionResumption?: boolean;
  /** Whether each target has metrics of its own; default true. */
  readonly targetMetrics?: boolean;
  /** If absent, the worker does not listen. */
  readonly server?: ServerOptions;
};

export type ParsedOptions =
  | { readonly kind: 'alone'; readonly options: LocalOptions }
  | { readonly kind: 'control'; readonly options: ControlOptions }
  | { readonly kind: 'worker'; readonly options: WorkerOptions }
  | { readonly kind: 'help'; readonly help: string }
  | { readonly kind: 'invalid'; readonly message: string };

export function parseOptions(args: readonly string[]): ParsedOptions {
  const command = new StartCommand('probelet start');
  let help = '';
  command.exitOverride().configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  try {
    return optionsOf(command.parse(args, { from: 'user' }));
  } catch (error) {
    if (error instanceof InvalidOption) return { kind: 'invalid', message: error.message };
    if (error instanceof CommanderError && error.exitCode === 0) return { kind: 'help', help };
    throw error;
  }
}

function optionsOf(command: StartCommand): ParsedOptions {
  const { mode, options: given } = command.given();
  const { release = '', concurrency, canary, tlsSessionResumption, config } = given;
  const allowExec = given.allowExec === undefined ? undefined : readAllowList(given.allowExec);
  const allowed = {
    ...(allowExec && { allowExec }),
    ...(given.secret && { secretHosts: given.secret }),
  };
  const probing = {
    ...allowed,
    ...(canary && { canaries: canary }),
    ...(tlsSessionResumption && { tlsSessionResumption }),
  };
  const measured = given.targetMetrics === false ? { targetMetrics: false } : {};
  const quotas = quotasOf(given);
  const limited = {
    ...(given.mode !== undefined && { mode: given.mode }),
    ...(Object.keys(quotas).length > 0 && { quotas }),
  };
  switch (mode) {
    case 'alone':
      return {
        kind: mode,
        options: {
          ...serverOptions(given),
          dataDir: given.dataDir,
          ...probing,
          ...limited,
          ...measured,
          ...(config !== undefined && { config: readConfigFile(config, { allows: allowExec }) }),
        },
      };
    case 'control':
      return {
        kind: mode,
        options: { ...serverOptions(given), aws: awsOptions(given, mode), release, ...allowed, ...limited },
      };
    case 'worker':
      return {
        kind: mode,
        options: {
          aws: awsOptions(given, mode),
          release,
          concurrency,
          ...probing,
          ...(listens(command) && { server: serverOptions(given), ...measured }),
        },
      };
  }
}

const quotasOf = ({ targetsMax, targetsMaxPerNamespace, probesPerSecondMax }: Given): Partial<QuotaLimits> => ({
  ...(targetsMax !== undefined && { targetsMax }),
  ...(targetsMaxPerNamespace !== undefined && { targetsPerNamespaceMax: targetsMaxPerNamespace }),
  ...(probesPerSecondMax !== undefined && { probesPerSecondMax }),
});

/** Options of a server, which a worker has only with a port. */
const useless = ['host', 'healthzPort', 'tokenFile', 'targetMetrics'] as const satisfies readonly OptionName[];

function listens(command: StartCommand): boolean {
  if (command.isGiven('port')) return true;
  const given = useless.find((name) => command.isGiven(name));
  if (given !== undefined) throw new InvalidOption(`${longName(given)}: needs --port with --worker`);
  return false;
}

function serverOptions({ host, port, healthzPort, tokenFile }: Given): ServerOptions {
  const token = tokenFile === undefined ? undefined : readToken(tokenFile);
  const warning = tokenFile === undefined ? undefined : tokenFileWarning(tokenFile);
  if (!isLoopback(host) && token === undefined)
    throw new InvalidOption(`--host: ${host} is reachable from elsewhere, so it needs --token-file FILE`);
  return {
    ...{ host, port },
    ...(healthzPort !== undefined && { healthzPort }),
    ...(token !== undefined && { token }),
    ...(warning !== undefined && { warning }),
  };
}

function awsOptions({ table, queueUrl, endpoint = {}, bus, region }: Given, mode: StartMode): AwsOptions {
  if (table === undefined) throw new InvalidOption(`--table: is needed with --${mode}`);
  if (queueUrl === undefined) throw new InvalidOption(`--queue-url: is needed with --${mode}`);
  return {
    ...{ table, queueUrl, endpoints: endpoint },
    ...(bus !== undefined && { bus }),
    ...(region !== undefined && { region }),
  };
}
