/**
 * `probelet try`: makes each probe of a file once from here, without registering anything. Exit code 1: a file is
 * wrong, has no probe, or a probe did not succeed.
 */

import { Command, Option } from 'commander';
import type { ProbeReport } from '../../../shared/core/kubelet/probe-report.ts';
import type { ProbeRequest } from '../../../shared/core/spec/handlers.ts';
import { resolveProbeRequest } from '../../../shared/core/spec/probe-request.ts';
import type { SecretHosts } from '../../../shared/core/spec/secret-hosts.ts';
import { type SpecProbe, specProbes } from '../../../shared/core/spec/spec.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { commandProcesses } from '../../../shared/exec/command-processes.ts';
import { localRunner } from '../../../shared/exec/local.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import type { ConvertedTarget } from '../../../shared/manifest/convert.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { httpUrl, withoutPassword } from '../../../shared/prober/http/url.ts';
import { probe, type TimedAttempt } from '../../../shared/prober/probe.ts';
import { readAllowList } from '../../local/options/option-values.ts';
import { startOption } from '../../local/options/start-command.ts';
import { environmentSecrets } from '../../local/process/environment-secrets.ts';
import { runProbing } from '../../run-probing.ts';
import { convertedFiles, type FileOptions, hostOption, reportErrors, withFiles } from '../files/manifest-files.ts';
import { targetsOf } from '../files/wanted-targets.ts';
import type { CommandSetting } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import { attemptLines } from '../printing/probe-text.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import { targetNames } from '../words/resources.ts';

type Options = FileOptions & {
  readonly host?: string;
  readonly allowExec?: string;
  readonly secret?: SecretHosts;
  readonly output: 'text' | 'json';
};

const examples = `
Examples:
  probelet try -f target.yaml
  probelet try -f deployment.yaml --host 10.0.0.1
  probelet try -f targets/ target/checkout
  probelet try -f compose.yaml --allow-exec commands.txt -o json`;

export const tryCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(new Command('try'))
    .description('make each probe of files once, from here, without registering anything')
    .argument('[target...]', 'only these targets of the files, such as target/checkout')
    .addOption(hostOption())
    .addOption(startOption('allowExec'))
    .addOption(startOption('secret'))
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json']).default('text'))
    .addHelpText('after', examples)
    .action(async (words: readonly string[], options: Options) => {
      const { filename, recursive, output, allowExec, secret = new Map(), ...format } = options;
      const names = words.length > 0 ? targetNames(words) : undefined;
      const allows = allowExec === undefined ? undefined : readAllowList(allowExec);
      const conversions = await convertedFiles({ filename, recursive }, { io, format });
      reportErrors(conversions, io.err);
      if (conversions.some(({ kind }) => kind === 'invalid')) return endWith(exitCodes.failed);
      const all = targetsOf(conversions);
      const targets = names ? namedTargets(all, names) : all;
      const probes = targets.flatMap((target) => specProbes(target.spec).map((each) => ({ target, probe: each })));
      if (probes.length === 0) io.err('No file has a probe.');
      const tried = await tryAll(
        probes,
        { allows, secretHosts: secret },
        output === 'text' ? io.line : () => undefined,
      );
      if (output === 'json') io.out(documentText(tried, 'json'));
      if (tried.length === 0 || tried.some(({ result }) => result !== 'success')) endWith(exitCodes.failed);
    });

function namedTargets(all: readonly ConvertedTarget[], names: readonly string[]): readonly ConvertedTarget[] {
  const absent = names.filter((wanted) => !all.some(({ name }) => name === wanted));
  if (absent.length > 0) throw new CliError(`no file has a target ${absent.join(', ')}`, exitCodes.notFound);
  return all.filter(({ name }) => names.includes(name));
}

type Settings = { readonly allows: AllowList | undefined; readonly secretHosts: SecretHosts };

type TargetProbe = { readonly target: ConvertedTarget; readonly probe: SpecProbe };

type TryOutcome = {
  readonly target: string;
  readonly container: string;
  readonly probeType: string;
  readonly request: string;
  /** `unknown`: it could not be made, which is neither. */
  readonly result: string;
  readonly attempts: readonly TimedAttempt[];
};

/** One after another, as an operator reads them. Each ends with its own time-out. */
async function tryAll(probes: readonly TargetProbe[], settings: Settings, print: (line: string) => void) {
  const probing = probingOf(settings);
  const tried: TryOutcome[] = [];
  for (const each of probes) {
    const one = await tryOne(each, probing);
    tried.push(one);
    for (const line of linesOf(one)) print(line);
  }
  probing.close();
  return tried;
}

function probingOf({ allows, secretHosts }: Settings) {
  const processes = commandProcesses(systemClock);
  const { probers, abandon } = runProbing({
    clock: systemClock,
    policy: dialPolicy({ mode: 'local' }),
    resolveOn: (clock) => resolver({ clock }),
    outside: (clock) => ({
      run: localRunner({ clock, processes, ...(allows && { allows }) }),
      secrets: environmentSecrets(secretHosts),
    }),
  });
  return {
    probers,
    close() {
      abandon();
      processes.killAll();
    },
  };
}

async function tryOne(
  { target, probe: specProbe }: TargetProbe,
  { probers }: ReturnType<typeof probingOf>,
): Promise<TryOutcome> {
  const { namespace, name, spec } = target;
  const { container, probeType, probe: handler } = specProbe;
  const subject = { target: { namespace, name, uid: '' }, host: spec.host, container: container.spec };
  const order = { ...subject, handler, probeType, containerKind: container.kind };
  const resolved = resolveProbeRequest(handler, subject);
  const report = await probe({ probers, clock: systemClock }, order);
  return {
    target: `${namespace}/${name}`,
    container: container.spec.name,
    probeType,
    request: resolved.kind === 'request' ? requestText(resolved.request) : '',
    result: resultOf(report),
    attempts: report.attempts,
  };
}

const resultOf = ({ conclusion }: ProbeReport): string =>
  conclusion.kind === 'result' ? conclusion.result : 'unknown';

/** Without headers, which may carry secrets. */
function requestText(request: ProbeRequest): string {
  if ('url' in request) return `GET ${withoutPassword(httpUrl(request.url))}`;
  if ('command' in request) return `exec ${request.command.join(' ')}`;
  const address = `${request.kind} ${request.host}:${request.port}`;
  return 'service' in request && request.service !== '' ? `${address} ${request.service}` : address;
}

function linesOf({ target, container, probeType, request, result, attempts }: TryOutcome): readonly string[] {
  const head = `${probeType} probe of ${target}, container ${container}: ${result}`;
  return [head, `  ${request}`, ...attempts.flatMap(attemptLines)];
}
