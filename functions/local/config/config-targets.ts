/**
 * Registers the targets of the configuration's files, and removes those that no file names any more. It writes as the
 * API does for a client. An annotation names the file of each target, so nothing else is ever removed.
 */

import { ok, type problemDocument } from '../../../shared/api/http/problem.ts';
import { scanTargets } from '../../../shared/api/lists/scan.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { manifestsMax } from '../../../shared/api/routes/apply.ts';
import { configFileAnnotation } from '../../../shared/api/schema/annotations.ts';
import { applyManifests } from '../../../shared/api/targets/apply-manifests.ts';
import { changeTarget, type Plan } from '../../../shared/api/targets/change-target.ts';
import type { StoredTarget } from '../../../shared/api/targets/stored-target.ts';
import { planDelete } from '../../../shared/api/targets/target-plans.ts';
import type { TargetFiles } from '../../../shared/config/config-schema.ts';
import type { TargetRecord } from '../../../shared/core/spec/records.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { pacer, sliceMs } from '../../../shared/lib/slices.ts';
import { fileErrorsMax } from '../../../shared/manifest/limits.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import { type Converter, targetConverter } from '../threads/converter.ts';
import { Rest, restMs } from './config-rest.ts';
import { type ConfigSource, type ConfigSources, configSources, type FileSearch, isStill } from './config-sources.ts';
import { type FileFault, faultLog, logNotMonitored } from './file-faults.ts';
import type { FileTarget, ReadTargets } from './file-targets.ts';

export type ConfigTargets = {
  /**
   * Applies the files that have changed, and what failed before; with `isForced` all of them. What takes something away
   * waits until the files have been at rest for `restMs`, because half a file may be a valid one.
   */
  apply(
    files: { readonly folder: string; readonly targets: readonly TargetFiles[] },
    isForced: boolean,
  ): Promise<AppliedFiles>;
};

export type AppliedFiles = {
  /** Where changes matter. */
  readonly folders: readonly string[];
  /** When the next look is due for what waits; absent: nothing waits. */
  readonly lookMs?: number;
  /** What the files have that nothing probes, such as endpoints that no probe can ask. */
  readonly notMonitored: number;
};

/** Targets of all files together. */
const configTargetsMax = 20_000;
const defaultNamespace = 'default';

/** After a change. */
const secondLookMs = 1_000;

/** What stands in place of the machine's, for tests in which that fails or time stands still meanwhile. */
export type ConfigTargetsPorts = {
  /** Opens what converts files of targets. */
  readonly openConverter?: typeof targetConverter | undefined;
  /** Finds them. */
  readonly fileSearch?: FileSearch | undefined;
};

type ConfigTargetsOptions = ConfigTargetsPorts & { readonly clock: Clock; readonly signal: AbortSignal };

export function configTargets(deps: ApiDeps, options: ConfigTargetsOptions): ConfigTargets {
  const { clock, signal, openConverter = targetConverter, fileSearch } = options;
  const faults = faultLog(deps.log);
  let known: ReadonlyMap<string, Known> = new Map();
  const rest = new Rest();
  let isPruned = false;
  return {
    async apply({ folder, targets }, isForced) {
      const sources = await configSources(folder, targets, fileSearch);
      const found = JSON.stringify([targets, sources.faults, sources.files.map((each) => [each.name, each.signature])]);
      const isFound = rest.look(found, clock.monotonicMs());
      const converter = openConverter(deps.clock);
      const round = new Round({ deps, clock, signal, converter, known, isForced, fileSearch });
      try {
        for (const source of sources.files) if (!signal.aborted) await round.take(source);
      } finally {
        await converter.close();
      }
      const { folders } = sources;
      const notMonitored = [...round.known.values()].reduce((sum, each) => sum + each.notMonitored, 0);
      if (signal.aborted) return { folders, notMonitored };
      faults.report([
        ...sources.faults.map(({ file, detail }) => ({ file, line: 1, column: 1, detail })),
        ...[...round.known.values()].flatMap((each) => each.faults),
      ]);
      const isApplied = [...round.known].some(([name, { probes }]) => probes !== known.get(name)?.probes);
      known = round.known;
      if (isForced || isFound || isApplied) isPruned = false;
      if (!isPruned && rest.isOver() && !round.isBehind) isPruned = await prune(deps, sources, known, signal);
      const waitingSinceMs = [...known.values()].flatMap(({ waiting }) => waiting?.sinceMs ?? []);
      if (!isPruned) waitingSinceMs.push(rest.sinceMs);
      if (waitingSinceMs.length === 0) return { folders, notMonitored };
      const lookMs = Math.max(secondLookMs, Math.min(...waitingSinceMs) + restMs - clock.monotonicMs());
      return { folders, notMonitored, lookMs };
    },
  };
}

type RoundOptions = {
  readonly deps: ApiDeps;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly converter: Converter;
  readonly fileSearch: FileSearch | undefined;
  /** After the last round. */
  readonly known: ReadonlyMap<string, Known>;
  /** Reads and registers everything again. */
  readonly isForced: boolean;
};

/** One look at all files, in the order of their names. */
class Round {
  readonly known = new Map<string, Known>();
  /** A file has changed since it was found, and what was read of it may be half. */
  isBehind = false;
  readonly #options: RoundOptions;
  /** The file of each target. */
  readonly #owners = new Map<string, string>();

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  async take(source: ConfigSource): Promise<void> {
    const last = this.#unchanged(source);
    if (last && (last.failed.size === 0 || this.#nowMs() < last.retryAtMs)) return this.#keep(source, inForce(last));
    const before = this.#options.known.get(source.name);
    if (before?.waiting && this.#mustWait(source, before.waiting)) return this.#keep(source, before);
    if (before && !this.#options.isForced && isUnreadYet(before, source, this.#nowMs()))
      return this.#keep(source, before);
    const { name, path, entry, folders, signature } = source;
    const { host, namespace } = entry;
    const asked = {
      name,
      path,
      folders,
      ...(host !== undefined && { host }),
      ...(namespace !== undefined && { namespace }),
    };
    const read = await this.#options.converter.convert(asked, this.#options.signal);
    if (read.kind === 'read') {
      const isFound = await isStill(source, this.#options.fileSearch);
      this.isBehind ||= !isFound;
      const waiting = this.#waiting(source, read.targets, isFound);
      return before && waiting
        ? this.#keep(source, { ...readable(before), waiting })
        : this.#register(source, read, last);
    }
    const faults = read.errors.map((error) => ({ ...error, isWhole: true }));
    if (read.isUnread) return this.#keep(source, unreadFile(before, signature, faults, this.#nowMs()));
    const { probes, notMonitored = 0 } = before ?? {};
    const kept = { ...(probes && { probes }), notMonitored, retryAtMs: 0, retryMs: firstRetryMs };
    this.known.set(name, { signature, isInvalid: true, failed: new Set(), faults, ...kept });
  }

  /** Its targets stay as they are. What a waiting version no longer has may be in another file by now. */
  #keep({ name }: ConfigSource, known: Known): void {
    const names = [...(known.probes?.keys() ?? [])];
    for (const key of names) if (known.waiting?.names.has(key) ?? true) this.#owners.set(key, name);
    this.known.set(name, known);
  }

  /** A file that names a target of a file before it is no longer what it was. */
  #unchanged({ name, signature }: ConfigSource): Known | undefined {
    if (this.#options.isForced) return undefined;
    const last = this.#options.known.get(name);
    const isSame =
      last?.signature === signature && ![...(last.probes?.keys() ?? [])].some((each) => this.#owners.has(each));
    return isSame ? last : undefined;
  }

  #mustWait({ signature }: ConfigSource, waiting: Waiting): boolean {
    return waiting.signature === signature && this.#nowMs() - waiting.sinceMs < restMs;
  }

  /**
   * Of a version that lacks a target or a probe of the one in force: since when it waits. What is not the version that
   * was found (`isFound`) may have begun to be there just now.
   */
  #waiting(source: ConfigSource, targets: readonly FileTarget[], isFound: boolean): Waiting | undefined {
    const { known, deps } = this.#options;
    const before = known.get(source.name);
    if (!before?.probes || before.signature === source.signature) return undefined;
    const probes = new Map(targets.map((target) => [keyOf(source, target), probesOf(target)]));
    const isLess = [...before.probes].some(([key, count]) => (probes.get(key) ?? -1) < count);
    if (!isLess) return undefined;
    const isSame = isFound && before.waiting?.signature === source.signature;
    const sinceMs = isSame ? (before.waiting?.sinceMs ?? 0) : this.#nowMs();
    const waiting = { signature: source.signature, sinceMs, names: new Set(probes.keys()) };
    if (isSame && !this.#mustWait(source, waiting)) return undefined;
    const field = { file: source.name, restSeconds: restMs / 1_000 };
    if (!isSame) deps.log.info('file of targets has less than before: applied once it has been at rest', field);
    return waiting;
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Of an unchanged file only what failed is tried. */
  async #register(source: ConfigSource, { targets, tally, leftOut }: ReadFileTargets, last?: Known): Promise<void> {
    const { deps, signal } = this.#options;
    const { name: file, signature } = source;
    const { owned, refused } = this.#divided(source, targets);
    const failed = new Map(refused);
    let created = 0;
    for (const batch of batchesOf(owned.filter(({ key }) => !last || last.failed.has(key)))) {
      if (signal.aborted) return;
      const outcomes = await registered(deps, batch, file);
      for (const [index, { key, place }] of batch.entries()) {
        const { status, problem } = outcomes[index] ?? {};
        if (status === 201) created += 1;
        if (problem) failed.set(key, { file, ...place, detail: `${key} is not registered: ${problemText(problem)}` });
      }
    }
    const retryMs = last ? Math.min(last.retryMs * 2, retryMsMax) : firstRetryMs;
    const probes = new Map(owned.map((target) => [target.key, probesOf(target)]));
    const faults = [...failed.values()].slice(0, fileErrorsMax);
    const retryAtMs = this.#nowMs() + retryMs;
    const notMonitored = tally.leftOut;
    this.known.set(file, {
      signature,
      probes,
      failed: new Set(failed.keys()),
      faults,
      notMonitored,
      retryAtMs,
      retryMs,
    });
    const counts = {
      targets: owned.length,
      created,
      failed: failed.size,
      approximated: tally.approximated,
      notMonitored,
    };
    if (!last || created > 0) deps.log.info('file of targets applied', { file, ...counts });
    if (!last) logNotMonitored(deps.log, { file, leftOut, count: notMonitored });
  }

  /** Takes the targets that no file before this one has. */
  #divided(source: ConfigSource, targets: readonly FileTarget[]) {
    const { name: file } = source;
    const owned: Placed[] = [];
    const refused: [string, FileFault][] = [];
    for (const target of targets) {
      const namespace = namespaceOf(source, target);
      const key = keyOf(source, target);
      const owner = this.#owners.get(key);
      const isBeyond = this.#owners.size >= configTargetsMax;
      if (owner === undefined && !isBeyond) {
        this.#owners.set(key, file);
        owned.push({ ...target, namespace, key });
      } else {
        const why =
          owner === undefined ? `there are more than ${configTargetsMax}` : `${owner} has a target of this name`;
        refused.push([key, { file, ...target.place, detail: `${key} is not registered: ${why}` }]);
      }
    }
    return { owned, refused };
  }
}

const namespaceOf = ({ entry }: ConfigSource, target: FileTarget): string =>
  target.namespace ?? entry.namespace ?? defaultNamespace;

const keyOf = (source: ConfigSource, target: FileTarget): string => `${namespaceOf(source, target)}/${target.name}`;

type Probed = { readonly [probe in ProbeField]?: unknown };
type ProbedManifest = {
  readonly spec?: Probed & { readonly containers?: readonly Probed[]; readonly initContainers?: readonly Probed[] };
};

const probeFields = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
type ProbeField = (typeof probeFields)[number];

/** How many probes the target has. */
function probesOf({ manifest }: FileTarget): number {
  const { spec = {} }: ProbedManifest = manifest;
  const places = [spec, ...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return places.flatMap((place) => probeFields.filter((field) => place[field] !== undefined)).length;
}

type ReadFileTargets = Extract<ReadTargets, { readonly kind: 'read' }>;

/** What is known of a file from one look to the next, since it was last read. */
type Known = {
  readonly signature: string;
  /** Its targets, with how many probes each has, as last read. Absent: it could never be read. */
  readonly probes?: ReadonlyMap<string, number>;
  /** A later version with less, which is not applied before it has been at rest. */
  readonly waiting?: Waiting;
  /** A later version that could not be read. */
  readonly unread?: Unread;
  /** The present version is wrong: the last one that was not is in force. */
  readonly isInvalid?: true;
  /** Targets of the file that are to be tried again. */
  readonly failed: ReadonlySet<string>;
  readonly faults: readonly FileFault[];
  readonly notMonitored: number;
  /** When to try again, and how long to wait after that. */
  readonly retryAtMs: number;
  readonly retryMs: number;
};

type Unread = { readonly signature: string; readonly retryAtMs: number; readonly retryMs: number };
type Waiting = { readonly signature: string; readonly sinceMs: number; readonly names: ReadonlySet<string> };

const firstRetryMs = 10_000;
const retryMsMax = 300_000;

const unknownFile: Known = {
  ...{ signature: '', failed: new Set<string>(), faults: [], notMonitored: 0 },
  ...{ retryAtMs: 0, retryMs: firstRetryMs },
};

/** This version could not be read, and it is too early for another attempt. */
const isUnreadYet = ({ unread }: Known, { signature }: ConfigSource, nowMs: number): boolean =>
  unread?.signature === signature && nowMs < unread.retryAtMs;

/** The present version is not known: it may have more than the one in force, which may have been half a file. */
const isInDoubt = ({ probes, unread, isInvalid }: Known): boolean =>
  probes === undefined || unread !== undefined || isInvalid === true;

/** A version could not be read: what is known stays, and it is tried again. */
function unreadFile(before: Known | undefined, signature: string, faults: readonly FileFault[], nowMs: number): Known {
  const { unread } = before ?? {};
  const retryMs = unread?.signature === signature ? Math.min(unread.retryMs * 2, retryMsMax) : firstRetryMs;
  return { ...(before ?? unknownFile), faults, unread: { signature, retryMs, retryAtMs: nowMs + retryMs } };
}

/** A later version has been read. */
const readable = ({ unread, ...known }: Known): Known => (unread ? { ...known, faults: [] } : known);

/** The version that waited is gone. */
const inForce = ({ waiting: _, ...known }: Known): Known => known;

type Placed = FileTarget & { readonly namespace: string; readonly key: string };

/** Each batch has targets of one namespace, at most as many as one request may have. */
function batchesOf(targets: readonly Placed[]): readonly (readonly Placed[])[] {
  return [...Map.groupBy(targets, ({ namespace }) => namespace).values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / manifestsMax) }, (_, at) =>
      all.slice(at * manifestsMax, (at + 1) * manifestsMax),
    ),
  );
}

type Problem = ReturnType<typeof problemDocument>;
type PutOutcome = { readonly status: number; readonly problem?: Pick<Problem, 'detail' | 'errors'> };

/** Registers the targets of one batch as a client does, each with the annotation that names its file. */
async function registered(deps: ApiDeps, batch: readonly Placed[], file: string): Promise<readonly PutOutcome[]> {
  const entries = batch.map(({ manifest }, document) => ({ document, manifest: ok(marked(manifest, file)) }));
  const applied = await applyManifests(deps, entries, batch[0]?.namespace ?? '', false);
  return applied.kind === 'applied' ? applied.items : batch.map(() => ({ status: applied.status, problem: applied }));
}

function marked(manifest: { readonly metadata?: { readonly annotations?: object } }, file: string): object {
  const annotations = { ...manifest.metadata?.annotations, [configFileAnnotation]: file };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

const problemText = ({ detail, errors = [] }: Pick<Problem, 'detail' | 'errors'>): string =>
  errors.length === 0
    ? detail
    : errors.map((error) => `${'pointer' in error ? error.pointer : ''} ${error.detail}`).join('; ');

/** Removes what files no longer name, as a DELETE does. Returns false if it has to be repeated. */
export async function prune(
  deps: ApiDeps,
  sources: Pick<ConfigSources, 'mayExist'>,
  known: ReadonlyMap<string, Known>,
  signal: AbortSignal,
): Promise<boolean> {
  const named = new Set([...known.values()].flatMap(({ probes }) => [...(probes?.keys() ?? [])]));
  const stays = ({ namespace, name }: TargetRecord, file: string) => {
    const ofFile = known.get(file);
    return named.has(`${namespace}/${name}`) || (ofFile ? isInDoubt(ofFile) : sources.mayExist(file));
  };
  const pause = pacer(deps.clock, sliceMs);
  try {
    for await (const { stored } of scanTargets(deps)) {
      await pause();
      if (signal.aborted) return false;
      if (!stored) continue;
      const { target } = stored;
      const file = target.annotations[configFileAnnotation];
      if (file !== undefined && target.deletionTimestampMs === undefined && !stays(target, file))
        await remove(deps, target, file);
    }
    return true;
  } catch (error) {
    deps.log.warn('targets that no file names are not removed yet', { error });
    return false;
  }
}

/** Unless another client has made the target its own meanwhile. */
async function remove(deps: ApiDeps, { namespace, name }: TargetRecord, file: string): Promise<void> {
  const address = targetAddress(namespace, name);
  const begin = planDelete(address, { mustBeNew: false }, undefined, deps.clock.nowMs());
  const plan = (stored: StoredTarget | undefined): Plan =>
    stored && stored.target.annotations[configFileAnnotation] !== file ? { kind: 'unchanged', stored } : begin(stored);
  const outcome = await changeTarget(deps, address, plan, 'DeletionRequested', false);
  if (outcome.kind === 'ok' && outcome.stored.target.deletionTimestampMs !== undefined)
    deps.log.info('target removed: no file of the configuration names it any more', { namespace, name, file });
}
