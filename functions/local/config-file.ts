/** The option `--config`: one file that names the files of targets, the alerts and their receivers. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ReceiverEntry } from '../../shared/alerts/alert-config.ts';
import { type AlertRule, alertRules } from '../../shared/alerts/alert-rule.ts';
import type { Receiver } from '../../shared/alerts/formats/receiver.ts';
import { type TargetFiles, targetFilesOf } from '../../shared/config/config-schema.ts';
import { parseConfig } from '../../shared/config/read-config.ts';
import type { AllowList } from '../../shared/exec/allow-list.ts';
import { InvalidOption, readText } from './option-values.ts';
import { receiverOf } from './receivers.ts';

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
  /** Reads the file and its secrets again. @throws InvalidOption */
  readonly again: () => ConfigSetup;
};

/** Parsing takes the event loop: a file of this size some 100 ms. */
const configBytesMax = 256 * 1024;
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

/** @throws InvalidOption that names each wrong field with its place, one a line. */
export function readConfigFile(path: string, options: ConfigOptions = {}): ConfigSetup {
  const { isWanted = () => true, allows } = options;
  const whole = resolve(path);
  const folder = dirname(whole);
  const read = parseConfig(boundedText(path));
  if (read.kind === 'invalid') {
    const lines = read.problems.map(
      ({ line, column, detail }) => `${configOption}: ${path}:${line}:${column}: ${detail}`,
    );
    throw new InvalidOption(lines.slice(0, errorsShownMax).join('\n'));
  }
  const { config, placeOf } = read;
  const { receivers: entries = [] } = config;
  const receivers = entries.flatMap((entry, index) => {
    if (!isWanted(entry.name)) return [];
    const { line, column } = placeOf(['receivers', index]);
    return receiverOf(
      inFolder(entry, folder),
      `${configOption}: ${path}:${line}:${column}: receivers[${index}]`,
      allows,
    );
  });
  return {
    path: whole,
    folder,
    targets: targetFilesOf(config),
    alerts: { rules: alertRules(config), receivers },
    names: entries.map(({ name }) => name),
    again: () => readConfigFile(whole, options),
  };
}

/** With every file of a secret as an absolute path. */
const inFolder = (entry: ReceiverEntry, folder: string): ReceiverEntry =>
  JSON.parse(JSON.stringify(entry), (key, value) =>
    fileKeys.includes(key) && typeof value === 'string' ? resolve(folder, value) : value,
  );

const fileKeys: readonly string[] = ['file', 'caFile'];

function boundedText(path: string): string {
  if (sizeOf(path) > configBytesMax)
    throw new InvalidOption(`${configOption}: ${path} has more than ${configBytesMax} bytes`);
  return readText(configOption, path);
}

/** 0 if it cannot be found out: reading says why. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
