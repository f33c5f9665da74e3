/** A file to targets that the API accepts, with what was approximated and left out; or every error, and no target. */
import { decodeNamedManifest } from '../api/schema/decode-manifest.ts';
import { keptOutOfManifest } from '../api/schema/kept-out.ts';
import { listed } from '../core/spec/field-problem.ts';
import type { TargetSpec } from '../core/spec/spec.ts';
import { formats } from './formats.ts';
import { fileErrorsMax, namedFieldsMax, targetsMax } from './limits.ts';
import {
  type Draft,
  type Drafts,
  defaultNamespace,
  type FormatOptions,
  type Mistake,
  merged,
  noDrafts,
  type Path,
  type Place,
  type Remark,
  type RemarkKind,
  type SourceDocument,
} from './manifest.ts';
import { withDistinctNames } from './names.ts';
import { readFile } from './read.ts';
import { membersOf, textOf } from './values.ts';

export type FilePlace = Place & { readonly file: string };

/** `field`: as a path in the document, e.g. `spec.containers[0].name`; absent: all of it is meant. */
export type FileError = FilePlace & { readonly field?: string; readonly detail: string };

export type Note = FilePlace & { readonly kind: RemarkKind; readonly what: string; readonly reason: string };

export type ConvertedTarget = {
  /** As the API accepts it, without what it would not store. */
  readonly manifest: unknown;
  readonly namespace: string;
  readonly name: string;
  /** With its defaults. */
  readonly spec: TargetSpec;
  /** Whether its probes ask something else than what the file says; the notes say what. */
  readonly isApproximated: boolean;
  /** The place in the file of the field of the manifest, or of the spec. */
  readonly placeOf: (pointer: string) => FilePlace;
  /** The name of that field in the file. */
  readonly fieldOf: (pointer: string) => string;
};

export type Conversion =
  /** Nothing of the file may be sent. */
  | { readonly kind: 'invalid'; readonly errors: readonly FileError[] }
  | { readonly kind: 'converted'; readonly targets: readonly ConvertedTarget[]; readonly notes: readonly Note[] };

export type SourceFile = { readonly name: string; readonly text: string };

export function convertFile({ name: file, text }: SourceFile, options: FormatOptions = {}): Conversion {
  const read = readFile(text);
  if (read.kind === 'unreadable') return invalid(read.problems.map((problem) => ({ file, ...problem })));
  const { drafts, remarks, mistakes } = draftsOf(read.documents, options);
  const isApproximated = approximatedAt(remarks);
  const decoded = drafts.map((draft) => decodedDraft(draft, file, isApproximated(draft), options.namespace));
  const targets = decoded.flatMap((each) => (each.kind === 'decoded' ? [each.target] : []));
  const errors = [
    ...mistakes.map((mistake) => errorOf(mistake, file)),
    ...decoded.flatMap((each) => (each.kind === 'decoded' ? [] : each.errors)),
    ...tooMany(targets),
    ...namedTwice(targets),
  ];
  if (errors.length > 0) return invalid(errors);
  const ignored = decoded.flatMap((each) => (each.kind === 'decoded' ? each.ignored : []));
  const notes = [...remarks.map((each) => noteOf(each, file)), ...ignored].sort(byPlace);
  return { kind: 'converted', targets, notes };
}

const invalid = (errors: readonly FileError[]): Conversion => ({
  kind: 'invalid',
  errors: [...errors].sort(byPlace).slice(0, fileErrorsMax),
});

const byPlace = (a: Place, b: Place): number => a.line - b.line || a.column - b.column;

function draftsOf(documents: readonly SourceDocument[], options: FormatOptions): Drafts {
  const recognised = Map.groupBy(documents, ({ value }) => formats.find((format) => format.recognises(value)));
  return withDistinctNames(
    merged(
      [...recognised].map(([format, own]) =>
        format ? format.draft(own, options) : { ...noDrafts, mistakes: own.map(unrecognised) },
      ),
    ),
  );
}

/** Remarks about a target have paths below its own. */
function approximatedAt(remarks: readonly Remark[]): (draft: Draft) => boolean {
  const found = new Map<SourceDocument, Set<string>>();
  for (const { document, path, kind } of remarks) {
    if (kind !== 'approximated') continue;
    const paths = found.get(document) ?? new Set<string>();
    found.set(document, paths);
    for (let length = 0; length <= path.length; length += 1) paths.add(JSON.stringify(path.slice(0, length)));
  }
  return ({ at }) => found.get(at.document)?.has(JSON.stringify(at.path)) === true;
}

const unrecognised = (document: SourceDocument): Mistake => ({
  document,
  path: [],
  detail: `is of no known format: must be ${listed(
    formats.map(({ looks }) => looks),
    'or',
  )}`,
});

/** @param ofNameless the namespace of a draft that does not name one */
function decodedDraft(
  draft: Draft,
  file: string,
  isApproximated: boolean,
  ofNameless = defaultNamespace,
):
  | { readonly kind: 'decoded'; readonly target: ConvertedTarget; readonly ignored: readonly Note[] }
  | { readonly kind: 'wrong'; readonly errors: readonly FileError[] } {
  const placeOf = (pointer: string) => ({ file, ...draft.at.document.placeOf(sourcePath(draft, pointer)) });
  const fieldOf = (pointer: string) => fieldText(sourcePath(draft, pointer));
  const metadata = membersOf(draft.manifest.metadata);
  const namespace = textOf(metadata.namespace) ?? ofNameless;
  const decoded = decodeNamedManifest(draft.manifest, namespace);
  if (decoded.kind === 'problem') {
    const wrong = (decoded.errors ?? []).map((error) => ('pointer' in error ? error : { ...error, pointer: '' }));
    const errors = wrong.map(({ pointer, detail }) => ({ ...placeOf(pointer), field: fieldOf(pointer), detail }));
    return { kind: 'wrong', errors };
  }
  const { ignored, target } = decoded.value;
  const manifest = keptOutOfManifest(draft.manifest).value;
  const notes = ignored.length === 0 ? [] : [ignoredNote(target.name, ignored, placeOf(''))];
  const { name, spec } = target;
  return {
    kind: 'decoded',
    target: { manifest, namespace, name, spec, isApproximated, placeOf, fieldOf },
    ignored: notes,
  };
}

const ignoredNote = (name: string, paths: readonly string[], place: FilePlace): Note => ({
  ...place,
  kind: 'note',
  what: `${name}: ${namedFields(paths)}`,
  reason: `${paths.length === 1 ? 'does' : 'do'} not concern probing`,
});

function namedFields(paths: readonly string[]): string {
  const more = paths.length - namedFieldsMax;
  return paths.slice(0, namedFieldsMax).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** The path in the document of a field of the manifest. */
function sourcePath({ at, sources }: Draft, pointer: string): Path {
  const around = sources
    .filter((source) => `${pointer}/`.startsWith(`${source.pointer}/`))
    .sort((a, b) => b.pointer.length - a.pointer.length);
  const [source] = around;
  return source ? [...source.path, ...tokensOf(pointer.slice(source.pointer.length))] : at.path;
}

const tokensOf = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

const fieldText = (path: Path): string =>
  path
    .map((token) => (/^\d+$/.test(String(token)) ? `[${token}]` : `.${token}`))
    .join('')
    .replace(/^\./, '');

function errorOf({ document, path, detail }: Mistake, file: string): FileError {
  return { file, ...document.placeOf(path), ...(path.length > 0 && { field: fieldText(path) }), detail };
}

const noteOf = ({ document, path, kind, what, reason }: Remark, file: string): Note => ({
  file,
  ...document.placeOf(path),
  kind,
  what,
  reason,
});

function tooMany(targets: readonly ConvertedTarget[]): readonly FileError[] {
  const beyond = targets[targetsMax];
  return beyond ? [{ ...beyond.placeOf(''), detail: `is one target too many: a file may have ${targetsMax}` }] : [];
}

function namedTwice(targets: readonly ConvertedTarget[]): readonly FileError[] {
  const seen = new Set<string>();
  return targets.flatMap(({ namespace, name, placeOf, fieldOf }) => {
    const key = `${namespace}/${name}`;
    const isKnown = seen.has(key);
    seen.add(key);
    const detail = `must be unique in the file: ${key} is another target already`;
    const pointer = '/metadata/name';
    return isKnown ? [{ ...placeOf(pointer), field: fieldOf(pointer), detail }] : [];
  });
}

export type Tally = { readonly targets: number; readonly approximated: number; readonly leftOut: number };

/** How many targets there are, how many of them are approximated, and how much is left out, which nothing probes. */
export function tallyOf(conversions: readonly Conversion[]): Tally {
  const converted = conversions.flatMap((each) => (each.kind === 'converted' ? [each] : []));
  const targets = converted.flatMap((each) => each.targets);
  const notes = converted.flatMap((each) => each.notes);
  return {
    targets: targets.length,
    approximated: targets.filter(({ isApproximated }) => isApproximated).length,
    leftOut: notes.filter(({ kind }) => kind === 'leftOut').length,
  };
}
