/**
 * Registers the targets of the configuration's files, and removes those that no file names any more. It writes as the
 * API does for a client. An annotation names the file of each target, so nothing else is ever removed.
 */
import { configFileAnnotation } from '../../shared/api/annotations.ts';
import { applyManifests } from '../../shared/api/apply-manifests.ts';
import { changeTarget } from '../../shared/api/change-target.ts';
import type { ApiDeps } from '../../shared/api/deps.ts';
import { ok, type problemDocument } from '../../shared/api/problem.ts';
import { manifestsMax } from '../../shared/api/routes/apply.ts';
import { scanTargets } from '../../shared/api/scan.ts';
import { planDelete } from '../../shared/api/target-plans.ts';
import type { TargetFiles } from '../../shared/config/config-schema.ts';
import type { TargetRecord } from '../../shared/core/records.ts';
import { pacer } from '../../shared/lib/pace.ts';
import { sliceMs } from '../../shared/lib/slices.ts';
import { fileErrorsMax } from '../../shared/manifest/limits.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { type ConfigSource, type ConfigSources, configSources } from './config-sources.ts';
import type { FileTarget, ReadTargets } from './convert-thread.ts';
import { type Converter, targetConverter } from './converter.ts';
import { type FileFault, faultLog, logNotMonitored } from './file-faults.ts';

export type ConfigTargets = {
  /**
   * Applies the files that have changed, and what failed before; with `isForced` all of them. Targets are removed only
   * when a second look finds the same files: an editor may have written half of one.
   */
  apply(
    files: { readonly folder: string; readonly targets: readonly TargetFiles[] },
    isForced: boolean,
  ): Promise<AppliedFiles>;
};

export type AppliedFiles = {
  /** Where changes matter. */
  readonly folders: readonly string[];
  /** Otherwise the second look is due. */
  readonly isSettled: boolean;
  /** What the files have that nothing probes, such as endpoints that no probe can ask. */
  readonly notMonitored: number;
};

/** Targets of all files together. */
const configTargetsMax = 20_000;
const defaultNamespace = 'default';

/** What is known of a file since it was last read. */
type Known = {
  readonly signature: string;
  /** Absent: it could not be read, so its targets stay as they are. */
  readonly names?: ReadonlySet<string>;
  /** Targets of the file that are to be tried again. */
  readonly failed: ReadonlySet<string>;
  readonly faults: readonly FileFault[];
  readonly notMonitored: number;
  /** When to try again, and how long to wait after that. */
  readonly retryAtMs: number;
  readonly retryMs: number;
};

const firstRetryMs = 10_000;
const retryMsMax = 300_000;

export function configTargets(deps: ApiDeps, signal: AbortSignal): ConfigTargets {
  const faults = faultLog(deps.log);
  let known: ReadonlyMap<string, Known> = new Map();
  /** What the last look found. */
  let seen = '';
  let isPruned = false;
  return {
    async apply({ folder, targets }, isForced) {
      const sources = await configSources(folder, targets);
      const converter = targetConverter(deps.clock);
      const round = new Round({ deps, signal, converter, before: isForced ? new Map() : known });
      try {
        for (const source of sources.files) if (!signal.aborted) await round.take(source);
      } finally {
        await converter.close();
      }
      const { folders } = sources;
      const notMonitored = [...round.known.values()].reduce((sum, each) => sum + each.notMonitored, 0);
      if (signal.aborted) return { folders, isSettled: true, notMonitored };
      faults.report([
        ...sources.faults.map(({ file, detail }) => ({ file, line: 1, column: 1, detail })),
        ...[...round.known.values()].flatMap((each) => each.faults),
      ]);
      const found = JSON.stringify([targets, sources.faults, sources.files.map((each) => [each.name, each.signature])]);
      known = round.known;
      const isSettled = found === seen;
      seen = found;
      if (isForced || !isSettled) isPruned = false;
      if (isSettled && !isPruned) isPruned = await prune(deps, { sources, known, signal });
      return { folders, isSettled, notMonitored };
    },
  };
}

type RoundOptions = {
  readonly deps: ApiDeps;
  readonly signal: AbortSignal;
  readonly converter: Converter;
  readonly before: ReadonlyMap<string, Known>;
};

/** One look at all files, in the order of their names. */
class Round {
  readonly known = new Map<string, Known>();
  readonly #options: RoundOptions;
  /** The file of each target. */
  readonly #owners = new Map<string, string>();

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  async take(source: ConfigSource): Promise<void> {
    const last = this.#unchanged(source);
    if (last && (last.failed.size === 0 || this.#nowMs() < last.retryAtMs)) {
      for (const name of last.names ?? []) this.#owners.set(name, source.name);
      this.known.set(source.name, last);
      return;
    }
    const { name, path, entry, signature } = source;
    const { host, namespace } = entry;
    const asked = { name, path, ...(host !== undefined && { host }), ...(namespace !== undefined && { namespace }) };
    const read = await this.#options.converter.convert(asked, this.#options.signal);
    if (read.kind === 'read') return this.#register(source, read, last);
    const faults = read.errors.map((error) => ({ ...error, isWhole: true }));
    const { notMonitored = 0 } = this.#options.before.get(name) ?? {};
    this.known.set(name, { signature, failed: new Set(), faults, notMonitored, retryAtMs: 0, retryMs: firstRetryMs });
  }

  /** A file that names a target of a file before it is no longer what it was. */
  #unchanged({ name, signature }: ConfigSource): Known | undefined {
    const last = this.#options.before.get(name);
    const isSame = last?.signature === signature && ![...(last.names ?? [])].some((each) => this.#owners.has(each));
    return isSame ? last : undefined;
  }

  #nowMs(): number {
    return this.#options.deps.clock.monotonicMs();
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
      const outcomes = await put(deps, batch, file);
      for (const [index, { key, place }] of batch.entries()) {
        const { status, problem } = outcomes[index] ?? {};
        if (status === 201) created += 1;
        if (problem) failed.set(key, { file, ...place, detail: `${key} is not registered: ${problemText(problem)}` });
      }
    }
    const retryMs = last ? Math.min(last.retryMs * 2, retryMsMax) : firstRetryMs;
    const names = new Set(owned.map(({ key }) => key));
    const faults = [...failed.values()].slice(0, fileErrorsMax);
    const retryAtMs = this.#nowMs() + retryMs;
    const notMonitored = tally.leftOut;
    this.known.set(file, {
      signature,
      names,
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
    if (!last) logNotMonitored(deps.log, leftOut, notMonitored);
  }

  /** Takes the targets that no file before this one has. */
  #divided({ name: file, entry }: ConfigSource, targets: readonly FileTarget[]) {
    const owned: Placed[] = [];
    const refused: [string, FileFault][] = [];
    for (const target of targets) {
      const namespace = target.namespace ?? entry.namespace ?? defaultNamespace;
      const key = `${namespace}/${target.name}`;
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

type ReadFileTargets = Extract<ReadTargets, { readonly kind: 'read' }>;

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

async function put(deps: ApiDeps, batch: readonly Placed[], file: string): Promise<readonly PutOutcome[]> {
  const entries = batch.map(({ manifest }, document) => ({ document, manifest: ok(marked(manifest, file)) }));
  const applied = await applyManifests(deps, { namespace: batch[0]?.namespace ?? '', dryRun: false, entries });
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

type Pruning = {
  readonly sources: Pick<ConfigSources, 'mayExist'>;
  readonly known: ReadonlyMap<string, Known>;
  readonly signal: AbortSignal;
};

/** Removes what files no longer name, as a DELETE does. Returns false if it has to be repeated. */
async function prune(deps: ApiDeps, { sources, known, signal }: Pruning): Promise<boolean> {
  const named = new Set([...known.values()].flatMap(({ names }) => [...(names ?? [])]));
  const stays = ({ namespace, name }: TargetRecord, file: string) =>
    named.has(`${namespace}/${name}`) ||
    (known.has(file) ? known.get(file)?.names === undefined : sources.mayExist(file));
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
  const context = { address, preconditions: { mustBeNew: false }, identity: {}, nowMs: deps.clock.nowMs() };
  const begin = planDelete(context, undefined);
  const outcome = await changeTarget(deps, {
    address,
    plan: (stored) =>
      stored && stored.target.annotations[configFileAnnotation] !== file
        ? { kind: 'unchanged', stored }
        : begin(stored),
    reason: 'DeletionRequested',
    dryRun: false,
  });
  if (outcome.kind === 'ok' && outcome.stored.target.deletionTimestampMs !== undefined)
    deps.log.info('target removed: no file of the configuration names it any more', { namespace, name, file });
}
