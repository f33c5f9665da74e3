/** The command line of `npm start`. */

import { descriptorsMax } from '../../../shared/core/self/sockets.ts';
import { functionMb, type LayoutContext } from '../../../shared/core/shards/layout.ts';
import { fleetLimits, processLimits, type QuotaLimits } from '../../../shared/core/shards/quota.ts';
import type { SecretHosts } from '../../../shared/core/spec/secret-hosts.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { type ConfigSetup, readConfigFile } from '../config/config-file.ts';
import { type AwsOptions, awsOptions } from './aws-options.ts';
import { type Given, givenOptions, type Option } from './given-options.ts';
import {
  InvalidOption,
  readAllowList,
  readToken,
  tokenFileWarning,
  validCanary,
  validCount,
  validHost,
  validPort,
  validSecrets,
  validShardMode,
} from './option-values.ts';

/** Where a process listens, and the token that it requires. */
export type ServerOptions = {
  readonly host: string;
  readonly port: number;
  /** Of a listener that answers `/healthz` alone. If absent, there is none. */
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
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly message: string };

const concurrencyMax = 64;
const concurrencyDefault = '4';

export const usage = `usage: npm start [-- OPTION …], or probelet start [OPTION …]

Everything in one process, kept in a file:

  --port PORT         where the API listens (default 8080; 0: any free port)
  --host ADDRESS      on which address (default 127.0.0.1; any other needs --token-file)
  --healthz-port PORT where /healthz alone is answered too, so that a supervisor waits behind no client of the API
                      (default: nowhere; 0: any free port)
  --data-dir FOLDER   where the targets and their results are kept (default .probelet)
  --token-file FILE   the bearer token that every request but /healthz has to carry
  --allow-exec FILE   the commands that exec probes may run, one a line: an absolute path, or a JSON array that must match exactly
  --secret NAME=HOST[:PORT]
                      a variable of the environment (PROBELET_SECRET_…) that probe headers may send as env:NAME, and where to: HOST is a
                      name, *.NAME for all below it, or an IP address ([…] for IPv6); may be repeated (default: none is sent anywhere)
  --canary HOST:PORT  what answers while this machine's own network is all right: while none of them does, no failure counts and
                      results are Unknown; may be repeated (default: its DNS servers, those that answer over TCP)
  --tls-session-resumption
                      HTTPS probes resume the TLS session of the probe before, which takes less CPU; without it each makes a full
                      handshake, as kubelet's do
  --config FILE       files of targets to register and keep as they are, and alerts to send when targets are not ready:
                      docs/configuration.md describes it; read again when it changes, and on SIGHUP
  --no-target-metrics
                      /metrics counts targets and probes, with no series of each target: for thousands of targets
  --mode MODE         resident: probes at all times; tick: once a minute, then nothing runs until the next; auto: tick while no
                      period is below 60 s, and nothing at all without targets (default resident; with --control: auto)
  --targets-max N     targets that may be registered (default ${processLimits.targetsMax}; with --control: ${fleetLimits(functionMb).targetsMax})
  --targets-max-per-namespace N
                      the same of each namespace (default: as many)
  --probes-per-second-max N
                      HTTP probes a second that may be registered in all; by what they cost HTTPS counts as 4, gRPC as 1.6, TCP as 0.4
                      and a command as 20 (default ${processLimits.probesPerSecondMax}; with --control: ${fleetLimits(functionMb).probesPerSecondMax})
  --help              this text

Several processes, on one machine or many, that share a DynamoDB table and an SQS queue:

  --control           one process: the API and the schedule; probes nothing (with --port, --host, --healthz-port, --token-file,
                      --mode and the limits above; with the --allow-exec and --secret of the workers it warns of probes that they refuse)
  --worker            as many as you like: probe what they receive (with --allow-exec, --secret, --canary and
                      --tls-session-resumption; with --port, --host,
                      --healthz-port, --token-file and --no-target-metrics one serves /healthz and /metrics)
  --table NAME        the table: keys pk and sk, both strings; expiresAt for its time to live
  --queue-url URL     the queue: FIFO
  --bus NAME          the EventBridge bus that every event goes to (default: none)
  --region NAME       default: what the environment or the profile of the AWS SDK says, as for the credentials
  --endpoint [SERVICE=]URL
                      in place of AWS's own, for dynamodb, sqs, eventbridge, or all of them; may be repeated
  --release NAME      of a worker: the release that it runs; of the control process: the one that should run, to which
                      workers of all others hand over (default: none)
  --concurrency N     shards that a worker holds at most; they share its ${descriptorsMax} sockets (1 to ${concurrencyMax}, default ${concurrencyDefault})

Examples:
  probelet start --port 9090 --data-dir /var/lib/probelet
  probelet start --host 0.0.0.0 --token-file token --config probelet.yaml
  probelet start --allow-exec commands.txt --secret PROBELET_SECRET_API=*.example.com
  probelet start --control --table probelet --queue-url https://sqs.eu-west-1.amazonaws.com/123456789012/probelet.fifo
`;

type Mode = 'alone' | 'control' | 'worker';

/** Options that are valid in some modes only. */
const modesOf: { readonly [option in Option]?: readonly Mode[] } = {
  'data-dir': ['alone'],
  config: ['alone'],
  canary: ['alone', 'worker'],
  'tls-session-resumption': ['alone', 'worker'],
  mode: ['alone', 'control'],
  table: ['control', 'worker'],
  'queue-url': ['control', 'worker'],
  bus: ['control', 'worker'],
  region: ['control', 'worker'],
  endpoint: ['control', 'worker'],
  release: ['control', 'worker'],
  concurrency: ['worker'],
  'no-target-metrics': ['alone', 'worker'],
  'targets-max': ['alone', 'control'],
  'targets-max-per-namespace': ['alone', 'control'],
  'probes-per-second-max': ['alone', 'control'],
};

export function parseOptions(args: readonly string[]): ParsedOptions {
  try {
    const given = givenOptions(args);
    if (given.help) return { kind: 'help' };
    const mode = modeOf(given);
    refuseOthers(given, mode);
    return optionsOf(given, mode);
  } catch (error) {
    if (error instanceof InvalidOption) return { kind: 'invalid', message: error.message };
    throw error;
  }
}

function modeOf({ control, worker }: Given): Mode {
  if (control && worker) throw new InvalidOption('--worker: not with --control; start a process for each');
  return control ? 'control' : worker ? 'worker' : 'alone';
}

function refuseOthers(given: Given, mode: Mode): void {
  for (const [option, modes] of Object.entries(modesOf)) {
    if (given[option as Option] === undefined || modes.includes(mode)) continue;
    if (mode !== 'alone') throw new InvalidOption(`--${option}: not with --${mode}`);
    throw new InvalidOption(`--${option}: needs ${modes.map((name) => `--${name}`).join(' or ')}`);
  }
}

function optionsOf(given: Given, mode: Mode): ParsedOptions {
  const { release = '', concurrency = concurrencyDefault } = given;
  const allowExec = given['allow-exec'] === undefined ? undefined : readAllowList(given['allow-exec']);
  const allowed = {
    ...(allowExec && { allowExec }),
    ...(given.secret && { secretHosts: validSecrets(given.secret) }),
  };
  const probing = {
    ...allowed,
    ...(given.canary && { canaries: given.canary.map(validCanary) }),
    ...(given['tls-session-resumption'] && { tlsSessionResumption: true }),
  };
  const measured = given['no-target-metrics'] ? { targetMetrics: false } : {};
  const quotas = quotasOf(given);
  const limited = {
    ...(given.mode !== undefined && { mode: validShardMode(given.mode) }),
    ...(Object.keys(quotas).length > 0 && { quotas }),
  };
  switch (mode) {
    case 'alone':
      return {
        kind: mode,
        options: {
          ...serverOptions(given),
          dataDir: given['data-dir'] ?? '.probelet',
          ...probing,
          ...limited,
          ...measured,
          ...(given.config !== undefined && { config: readConfigFile(given.config, { allows: allowExec }) }),
        },
      };
    case 'control':
      return {
        kind: mode,
        options: { ...serverOptions(given), aws: awsOptions(given, '--control'), release, ...allowed, ...limited },
      };
    case 'worker':
      return {
        kind: mode,
        options: {
          aws: awsOptions(given, '--worker'),
          release,
          concurrency: validCount('concurrency', concurrency, concurrencyMax),
          ...probing,
          ...(listens(given) && { server: serverOptions(given), ...measured }),
        },
      };
  }
}

/** The upper bound for each of these limits. */
const quotaMax = 10_000_000;

function quotasOf(given: Given): Partial<QuotaLimits> {
  const limit = (
    name: keyof QuotaLimits,
    option: 'targets-max' | 'targets-max-per-namespace' | 'probes-per-second-max',
  ) => {
    const text = given[option];
    return text === undefined ? {} : { [name]: validCount(option, text, quotaMax) };
  };
  return {
    ...limit('targetsMax', 'targets-max'),
    ...limit('targetsPerNamespaceMax', 'targets-max-per-namespace'),
    ...limit('probesPerSecondMax', 'probes-per-second-max'),
  };
}

function listens(given: Given): boolean {
  if (given.port !== undefined) return true;
  const useless = (['host', 'healthz-port', 'token-file', 'no-target-metrics'] as const).find(
    (option) => given[option] !== undefined,
  );
  if (useless !== undefined) throw new InvalidOption(`--${useless}: needs --port with --worker`);
  return false;
}

function serverOptions(given: Given): ServerOptions {
  const { port = '8080', host = '127.0.0.1', 'token-file': tokenFile, 'healthz-port': healthzPort } = given;
  const token = tokenFile === undefined ? undefined : readToken(tokenFile);
  const warning = tokenFile === undefined ? undefined : tokenFileWarning(tokenFile);
  return {
    ...{ host: validHost(host, token), port: validPort('port', port) },
    ...(healthzPort !== undefined && { healthzPort: validPort('healthz-port', healthzPort) }),
    ...(token !== undefined && { token }),
    ...(warning !== undefined && { warning }),
  };
}
