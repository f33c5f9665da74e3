/**
 * Follows the configuration: reads it again when it or one of its files changes, and on request. A version that is
 * wrong changes nothing.
 */

import { watch } from 'node:fs';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import { InvalidOption } from '../options/option-values.ts';
import { configParser } from '../threads/config-parser.ts';
import { type AlertSetup, type ConfigSetup, versionOf } from './config-file.ts';
import { type ConfigTargetsPorts, configTargets } from './config-targets.ts';

export type Configuration = {
  /** Reads everything again, secrets included, and registers all targets again. */
  reload(): void;
  /** What the files have that nothing probes. */
  notMonitored(): number;
  stop(): Promise<void>;
};

export type ConfigurationPorts = ConfigTargetsPorts & {
  readonly deps: ApiDeps;
  readonly onAlerts: (setup: AlertSetup) => void;
  /** Of looks and waits. */
  readonly clock: Clock;
  /** In place of the machine's events, for tests in which they come late or never. */
  readonly watchFolder?: typeof watchFolder | undefined;
};

/** An editor or a mount may replace a file in several steps. */
const settleMs = 300;
/** Watches miss some changes, such as those behind a symbolic link. What failed is tried again at this interval too. */
const pollMs = 10_000;
const watchesMax = 100;

/** Starts in the background. */
export function followConfig(setup: ConfigSetup, ports: ConfigurationPorts): Configuration {
  const follower = new Follower(setup, ports);
  const ended = follower.run();
  return {
    reload: () => follower.reload(),
    notMonitored: () => follower.notMonitored,
    async stop() {
      follower.stop();
      await ended;
    },
  };
}

class Follower {
  readonly #ports: ConfigurationPorts;
  readonly #clock: Clock;
  readonly #stopped = new AbortController();
  notMonitored = 0;
  #setup: ConfigSetup;
  #isForced = true;
  #isChanged = false;
  #wake: () => void = () => undefined;
  #watches: ReadonlyMap<string, FolderWatch> = new Map();

  constructor(setup: ConfigSetup, ports: ConfigurationPorts) {
    this.#setup = setup;
    this.#ports = ports;
    this.#clock = ports.clock;
  }

  reload(): void {
    this.#isForced = true;
    this.#wake();
  }

  stop(): void {
    this.#stopped.abort();
    this.#wake();
    for (const watcher of this.#watches.values()) watcher.close();
  }

  async run(): Promise<void> {
    const { deps, onAlerts } = this.#ports;
    const { signal } = this.#stopped;
    this.#warn();
    const targets = configTargets(deps, { ...this.#ports, signal });
    onAlerts(this.#setup.alerts);
    let read = this.#setup.version;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const isForced = this.#isForced;
      this.#isForced = false;
      const version = versionOf(this.#setup.path);
      if (!isFirst && (isForced || version !== read)) await this.#readAgain();
      read = version;
      try {
        const { folders, lookMs = pollMs, notMonitored } = await targets.apply(this.#setup, isForced);
        this.notMonitored = notMonitored;
        this.#follow([...new Set(folders)].slice(0, watchesMax));
        await this.#rest(Math.min(lookMs, pollMs));
      } catch (error) {
        deps.log.error('files of targets not applied: they are tried again', { error });
        await sleep(this.#clock, pollMs, signal);
        this.#isForced ||= isForced;
      }
    }
  }

  async #readAgain(): Promise<void> {
    const { deps, onAlerts } = this.#ports;
    try {
      this.#setup = await this.#setup.again(configParser(deps.clock, this.#stopped.signal));
      onAlerts(this.#setup.alerts);
      deps.log.info('configuration read again', { file: this.#setup.path });
      this.#warn();
    } catch (error) {
      if (!(error instanceof InvalidOption)) throw error;
      if (this.#stopped.signal.aborted) return;
      for (const line of error.message.split('\n'))
        deps.log.error('configuration is wrong: the last valid one stays in force', { why: line });
    }
  }

  #warn(): void {
    const { warning } = this.#setup;
    if (warning !== undefined) this.#ports.deps.log.warn(warning);
  }

  /** Until something changes and has settled, a reload, or the time for another look. */
  async #rest(lookMs: number): Promise<void> {
    const { signal } = this.#stopped;
    if (!this.#isForced && !this.#isChanged) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await sleep(this.#clock, lookMs, AbortSignal.any([woken.signal, signal]));
    }
    if (this.#isChanged) await sleep(this.#clock, settleMs, signal);
    this.#isChanged = false;
  }

  /** Folders that cannot be watched are polled all the same. */
  #follow(folders: readonly string[]): void {
    const watches = new Map<string, FolderWatch>();
    for (const folder of folders) {
      const watcher = this.#watches.get(folder) ?? this.#watched(folder);
      if (watcher) watches.set(folder, watcher);
    }
    for (const [folder, watcher] of this.#watches) if (!watches.has(folder)) watcher.close();
    this.#watches = watches;
  }

  #watched(folder: string): FolderWatch | undefined {
    if (this.#stopped.signal.aborted) return undefined;
    const { watchFolder: watched = watchFolder } = this.#ports;
    const watching = watched(folder, () => {
      this.#isChanged = true;
      this.#wake();
    });
    // What changed before the watch began is found by one more look.
    if (watching) this.#isChanged = true;
    return watching;
  }
}

type FolderWatch = { close(): void };

/** The file system's events about a folder: hints only, since some are lost. undefined: it cannot be watched. */
export function watchFolder(folder: string, onChange: () => void): FolderWatch | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}
