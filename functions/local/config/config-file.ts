/** The option `--config`: one file that names the files of targets, the alerts and their receivers. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ReceiverEntry } from '../../../shared/alerts/alert-config.ts';
import { type AlertRule, alertRules } from '../../../shared/alerts/alert-rule.ts';
import type { Receiver } from '../../../shared/alerts/formats/receiver.ts';
import { type TargetFiles, targetFilesOf } from '../../../shared/config/config-schema.ts';
import { parseConfig, type ReadConfig } from '../../../shared/config/read-config.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { receiverOf } from '../alerts/receivers.ts';
import { InvalidOption, readText } from '../options/option-values.ts';
import { fileVersion } from './config-sources.ts';

export type AlertSetup = { readonly rules: readonly AlertRule[]; readonly receivers: readonly Receiver[] };

/** A valid configuration, with its secrets. */
export type ConfigSetup = {
  /** Absolute. */
  readonly path: string;
  /** Where the names of files begin. Absolute. */
  readonly folder: string;
  readonly targets: readonly TargetFiles[];
  readonly alerts: AlertSetup;
  /** Of all receivers. */
  readonly names: readonly string[];
  /** Of the file, as it was before it was read. */
  readonly version: string;
  /** Why the file is not safe to follow, and what to do about it. */
  readonly warning?: string;
  /** Reads the file and its secrets again. Rejects with InvalidOption. */
  readonly again: (parse: ParseConfig) => Promise<ConfigSetup>;
};

/** Parses beside this thread. Never rejects. */
export type ParseConfig = (text: string) => Promise<ReadConfig>;

/** Errors of the file that are shown at once. */
const errorsShownMax = 10;
/** Begins each error. */
export const configOption = '--config';

export type ConfigOptions = {
  /** The receivers whose secrets are read; the others are left out. Absent: all. */
  readonly isWanted?: (receiver: string) => boolean;
  /** The commands that receivers may run. Absent: none. */
  readonly allows?: AllowList | undefined;
};

/**
 * For a process that probes nothing yet.
 * @throws InvalidOption that names each wrong field with its place, one a line.
 */
export function readConfigFile(path: string, options: ConfigOptions = {}): ConfigSetup {
  const file = { path, version: versionOf(path) };
  return setupOf(parseConfig(readText(configOption, path)), file, options);
}

type ConfigFile = { readonly path: string; readonly version: string };

function setupOf(read: ReadConfig, { path, version }: ConfigFile, options: ConfigOptions): ConfigSetup {
  const { isWanted = () => true, allows } = options;
  const whole = resolve(path);
  const folder = dirname(whole);
  if (read.kind === 'invalid') {
    const lines = read.problems.map(
      ({ line, column, detail }) => `${configOption}: ${path}:${line}:${column}: ${detail}`,
    );
    throw new InvalidOption(lines.slice(0, errorsShownMax).join('\n'));
  }
  const { config, receivers: places } = read;
  const { receivers: entries = [] } = config;
  const receivers = entries.flatMap((entry, index) => {
    if (!isWanted(entry.name)) return [];
    const { line, column } = places[index] ?? { line: 1, column: 1 };
    return receiverOf(
      inFolder(entry, folder),
      `${configOption}: ${path}:${line}:${column}: receivers[${index}]`,
      allows,
    );
  });
  return {
    ...{ path: whole, folder, version },
    targets: targetFilesOf(config),
    alerts: { rules: alertRules(config), receivers },
    names: entries.map(({ name }) => name),
    ...writableWarning(whole),
    again: async (parse) => {
      const file = { path: whole, version: versionOf(whole) };
      return setupOf(await parse(readText(configOption, whole)), file, options);
    },
  };
}

/** Differs once the file has been changed or replaced. */
export function versionOf(path: string): string {
  try {
    return fileVersion(statSync(path, { bigint: true }));
  } catch (error) {
    return codeOf(error);
  }
}

const othersMayWrite = 0o022;

/** The configuration chooses which files and variables of this process are sent where. */
function writableWarning(path: string): Pick<ConfigSetup, 'warning'> {
  const { uid, mode } = statSync(path);
  const isForeign = process.getuid !== undefined && uid !== 0 && uid !== process.getuid();
  if ((mode & othersMayWrite) === 0 && !isForeign) return {};
  const remedy = isForeign ? `make it yours with chown` : `close it to them with chmod go-w ${path}`;
  return { warning: `${configOption}: others can change ${path}, and with it what is sent to whom: ${remedy}` };
}

/** With every file of a secret as an absolute path. */
const inFolder = (entry: ReceiverEntry, folder: string): ReceiverEntry =>
  JSON.parse(JSON.stringify(entry), (key, value) =>
    fileKeys.includes(key) && typeof value === 'string' ? resolve(folder, value) : value,
  );

const fileKeys: readonly string[] = ['file', 'caFile'];
