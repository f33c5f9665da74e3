/**
 * The command `probelet start`, which `npm start` runs, too: a table with everything that there is to say about each of
 * its options. The help, the completion of shells and docs/cli.md are made from it, and `options.ts` reads what a
 * command line has given.
 */
import { Command, Option, type ParseOptionsResult } from 'commander';
import { descriptorsMax } from '../../../shared/core/self/sockets.ts';
import { functionMb } from '../../../shared/core/shards/layout.ts';
import { fleetLimits, processLimits } from '../../../shared/core/shards/quota.ts';
import { nearest } from '../../../shared/lib/nearest.ts';
import {
  addCanary,
  addEndpoints,
  addSecretHost,
  concurrency,
  concurrencyMax,
  host,
  InvalidOption,
  limit,
  port,
  queueUrl,
  shardMode,
  shardModes,
  tableName,
  text,
  textNotEmpty,
} from './option-values.ts';

/** One process that does everything, or one of several that share a table and a queue. */
export type StartMode = 'alone' | 'control' | 'worker';

/** Options that are valid in the same modes stand together in the help. */
type Group = { readonly heading: string; readonly modes: readonly StartMode[] };

const always: Group = { heading: 'Options:', modes: ['alone', 'control', 'worker'] };
const alone: Group = { heading: 'In one process alone:', modes: ['alone'] };
const probing: Group = { heading: 'Alone, or with --worker:', modes: ['alone', 'worker'] };
const planning: Group = { heading: 'Alone, or with --control:', modes: ['alone', 'control'] };
const shared: Group = {
  heading: 'Several processes, on one machine or many, that share a DynamoDB table and an SQS queue:',
  modes: ['control', 'worker'],
};
const workers: Group = { heading: 'With --worker:', modes: ['worker'] };

/** How the text of an option becomes its value. `before`: the value so far, of an option that may be repeated. */
type Parse = (text: string, option: string, before: never) => unknown;

type Row = {
  readonly group: Group;
  /** As commander takes them. The name of the row is the one that commander makes of them. */
  readonly flags: string;
  readonly help: string;
  /** Absent: the option takes no value. */
  readonly parse?: Parse;
  readonly choices?: readonly string[];
  readonly default?: unknown;
};

const fleet = fleetLimits(functionMb);

const rows = {
  port: {
    group: always,
    flags: '--port <port>',
    help: 'where the API listens; 0: any free port; a worker listens only if it is given',
    parse: port,
    default: 8080,
  },
  host: {
    group: always,
    flags: '--host <address>',
    help: 'on which address; any that others can reach needs --token-file',
    parse: host,
    default: '127.0.0.1',
  },
  healthzPort: {
    group: always,
    flags: '--healthz-port <port>',
    help: 'where /healthz alone is answered too, so that a supervisor waits behind no client of the API; 0: any free port (default: nowhere)',
    parse: port,
  },
  tokenFile: {
    group: always,
    flags: '--token-file <file>',
    help: 'the bearer token that every request but /healthz has to carry',
    parse: text,
  },
  allowExec: {
    group: always,
    flags: '--allow-exec <file>',
    help: 'the commands that exec probes may run, one a line: an absolute path, or a JSON array that must match exactly',
    parse: text,
  },
  secret: {
    group: always,
    flags: '--secret <name=host>',
    help: 'a variable of the environment (PROBELET_SECRET_…) that probe headers may send as env:NAME, and where to: HOST or HOST:PORT, where HOST is a name, *.NAME for all below it, or an IP address ([…] for IPv6); may be repeated (default: none is sent anywhere)',
    parse: addSecretHost,
  },
  dataDir: {
    group: alone,
    flags: '--data-dir <folder>',
    help: 'where the targets and their results are kept',
    parse: text,
    default: '.probelet',
  },
  config: {
    group: alone,
    flags: '--config <file>',
    help: 'files of targets to register and keep as they are, and alerts to send when targets are not ready: docs/configuration.md describes it; read again when it changes, and on SIGHUP',
    parse: text,
  },
  canary: {
    group: probing,
    flags: '--canary <host:port>',
    help: "what answers while this machine's own network is all right: while none of them does, no failure counts and results are Unknown; may be repeated (default: its DNS servers, those that answer over TCP)",
    parse: addCanary,
  },
  tlsSessionResumption: {
    group: probing,
    flags: '--tls-session-resumption',
    help: "HTTPS probes resume the TLS session of the probe before, which takes less CPU; without it each makes a full handshake, as kubelet's do",
  },
  targetMetrics: {
    group: probing,
    flags: '--no-target-metrics',
    help: '/metrics counts targets and probes, with no series of each target: for thousands of targets',
  },
  mode: {
    group: planning,
    flags: '--mode <mode>',
    help: 'resident: probes at all times; tick: once a minute, then nothing runs until the next; auto: tick while no period is below 60 s, and nothing at all without targets (default: resident; with --control: auto)',
    parse: shardMode,
    choices: shardModes,
  },
  targetsMax: {
    group: planning,
    flags: '--targets-max <n>',
    help: `targets that may be registered (default: ${processLimits.targetsMax}; with --control: ${fleet.targetsMax})`,
    parse: limit,
  },
  targetsMaxPerNamespace: {
    group: planning,
    flags: '--targets-max-per-namespace <n>',
    help: 'the same of each namespace (default: as many)',
    parse: limit,
  },
  probesPerSecondMax: {
    group: planning,
    flags: '--probes-per-second-max <n>',
    help: `HTTP probes a second that may be registered in all; by what they cost HTTPS counts as 4, gRPC as 1.6, TCP as 0.4 and a command as 20 (default: ${processLimits.probesPerSecondMax}; with --control: ${fleet.probesPerSecondMax})`,
    parse: limit,
  },
  control: {
    group: shared,
    flags: '--control',
    help: 'one process: the API and the schedule; probes nothing, and with the --allow-exec and --secret of the workers it warns of probes that they refuse',
  },
  worker: {
    group: shared,
    flags: '--worker',
    help: 'as many as you like: probe what they receive; one with --port serves /healthz and /metrics',
  },
  table: {
    group: shared,
    flags: '--table <name>',
    help: 'the table: keys pk and sk, both strings; expiresAt for its time to live',
    parse: tableName,
  },
  queueUrl: {
    group: shared,
    flags: '--queue-url <url>',
    help: 'the queue: FIFO',
    parse: queueUrl,
  },
  bus: {
    group: shared,
    flags: '--bus <name>',
    help: 'the EventBridge bus that every event goes to (default: none)',
    parse: textNotEmpty,
  },
  region: {
    group: shared,
    flags: '--region <name>',
    help: 'the region of AWS (default: what the environment or the profile of the AWS SDK says, as for the credentials)',
    parse: textNotEmpty,
  },
  endpoint: {
    group: shared,
    flags: '--endpoint <url>',
    help: "a URL in place of AWS's own for all services, or SERVICE=URL for one of dynamodb, sqs and eventbridge; may be repeated",
    parse: addEndpoints,
  },
  release: {
    group: shared,
    flags: '--release <name>',
    help: 'of a worker: the release that it runs; of the control process: the one that should run, to which workers of all others hand over (default: none)',
    parse: text,
  },
  concurrency: {
    group: workers,
    flags: '--concurrency <n>',
    help: `shards that a worker holds at most, 1 to ${concurrencyMax}; they share its ${descriptorsMax} sockets`,
    parse: concurrency,
    default: 4,
  },
} as const satisfies { readonly [name: string]: Row };

type Rows = typeof rows;
export type OptionName = keyof Rows;

type Value<Each> = Each extends { readonly parse: (...args: never) => infer Parsed } ? Parsed : boolean;

/** The values of a command line and the defaults. */
export type Given = {
  readonly [Name in OptionName]: Rows[Name] extends { readonly default: unknown }
    ? Value<Rows[Name]>
    : Value<Rows[Name]> | undefined;
};

const names = Object.keys(rows) as readonly OptionName[];

/** As on a command line. */
export const longName = (name: OptionName): string => rows[name].flags.split(' ')[0] ?? '';

/** An option of this command, for another one that has it, too. */
export function startOption(name: OptionName): Option {
  const { flags, help, parse, choices, default: value }: Row = rows[name];
  const option = new Option(flags, help);
  if (choices) option.choices(choices);
  if (parse) option.argParser<unknown>((given, before) => parse(given, longName(name), before as never)).default(value);
  return option;
}

const examples = `
In a clone also: npm start -- [options]

Examples:
  probelet start --port 9090 --data-dir /var/lib/probelet
  probelet start --host 0.0.0.0 --token-file token --config probelet.yaml
  probelet start --allow-exec commands.txt --secret PROBELET_SECRET_API=*.example.com
  probelet start --control --table probelet --queue-url https://sqs.eu-west-1.amazonaws.com/123456789012/probelet.fifo`;

export class StartCommand extends Command {
  /** As they were given, for a process that takes the place of this one. */
  words: readonly string[] = [];

  constructor(name = 'start') {
    super(name);
    this.description('run the API, the schedule and the prober in one process, or one of several that share them');
    for (const each of names) this.addOption(startOption(each).helpGroup(rows[each].group.heading));
    this.addHelpText('after', examples);
  }

  /**
   * Commander's own errors name no remedy, and repeat what may be a secret.
   * @throws InvalidOption
   */
  override parseOptions(args: string[]): ParseOptionsResult {
    this.words = args;
    this.#requireValues(args);
    const parsed = super.parseOptions(args);
    const { unknown, operands } = parsed;
    const [stranger] = unknown;
    if (unknown.some((word) => word === '--help' || word === '-h')) return parsed;
    if (stranger !== undefined) throw this.#unknownOption(stranger);
    if (operands[0] !== undefined) throw notAnOption(operands[0], args);
    return parsed;
  }

  /** @throws InvalidOption if an option stands in a mode that it says nothing of */
  given(): { readonly mode: StartMode; readonly options: Given } {
    const options = this.opts<Given>();
    const mode = modeOf(options);
    for (const name of names) {
      const { modes }: Group = rows[name].group;
      if (!this.isGiven(name) || modes.includes(mode)) continue;
      const option = longName(name);
      if (mode !== 'alone') throw new InvalidOption(`${option}: not with --${mode}`);
      throw new InvalidOption(`${option}: needs ${modes.map((each) => `--${each}`).join(' or ')}`);
    }
    return { mode, options };
  }

  /** Whether the command line has it, and not only the defaults. */
  isGiven(name: OptionName): boolean {
    return this.getOptionValueSource(name) === 'cli';
  }

  /** Commander would take the option that follows as the value. */
  #requireValues(args: readonly string[]): void {
    for (let at = 0; at < args.length; at += 1) {
      const option = this.options.find(({ long, required }) => required && long === args[at]);
      if (!option) continue;
      at += 1;
      const value = args[at];
      if (value === undefined) throw new InvalidOption(`${option.long}: needs a value behind it`);
      if (value.startsWith('-'))
        throw new InvalidOption(
          `${option.long}: needs a value, but another option follows; one that begins with - needs =, as in ${option.long}=-`,
        );
    }
  }

  /** Omits the value, because it may be a secret. */
  #unknownOption(word: string): InvalidOption {
    const [name = word] = word.split('=');
    return this.options.some(({ long }) => long === name)
      ? new InvalidOption(`${name}: takes no value; leave out what follows =`)
      : new InvalidOption(`${shortened(name)}: there is no such option${didYouMean(name)}`);
  }
}

function modeOf({ control, worker }: Given): StartMode {
  if (control && worker) throw new InvalidOption('--worker: not with --control; start a process for each');
  return control ? 'control' : worker ? 'worker' : 'alone';
}

/** npm consumes options that stand before `--` and passes only their values on. */
function notAnOption(word: string, args: readonly string[]): InvalidOption {
  const mayBeSecret = args.some((each) => each.startsWith('--secret'));
  const what = mayBeSecret ? 'an argument' : shortened(word);
  const meant = mayBeSecret ? '' : didYouMean(word);
  return new InvalidOption(
    `${what}: is not an option${meant || '; options stand behind --, as in npm start -- --port 8080'}`,
  );
}

const longNames = ['help', ...names.map((name) => longName(name).slice(2))];

function didYouMean(word: string): string {
  const meant = nearest(word.replace(/^--?/, ''), longNames);
  return meant === undefined ? '' : `; did you mean --${meant}?`;
}

const shownCharactersMax = 60;

const shortened = (word: string): string =>
  word.length > shownCharactersMax ? `${word.slice(0, shownCharactersMax)}…` : word;
