/**
 * The port of a format. Files that people have already, in a format of Kubernetes, Compose or Gatus, become targets. A
 * format is one file or folder here and a row in formats.ts. It is pure: it gets the documents of a file and returns
 * drafts, remarks and mistakes.
 */

/** Keys and indices from the root of a document to a value in it. */
export type Path = readonly (string | number)[];

/** Counted from 1. */
export type Place = { readonly line: number; readonly column: number };

export type SourceDocument = {
  readonly value: unknown;
  /** The place of the key or item at the path, or of the nearest thing around it that is written in the file. */
  readonly placeOf: (path: Path) => Place;
};

/** A value in a document. */
export type SourcePath = { readonly document: SourceDocument; readonly path: Path };

/** A manifest as the API takes it, not validated yet. */
export type Draft = {
  readonly manifest: { readonly [field: string]: unknown };
  readonly at: SourcePath;
  /** Where parts of the manifest come from. The longest pointer counts; below it both have the same shape. */
  readonly sources: readonly Source[];
  /** Absent: the file says `metadata.name`. */
  readonly naming?: Naming;
};

/** The text from which `metadata.name` is made. */
export type Naming = {
  /** Another target of the same name has another text. */
  readonly text: string;
  /** For a remark about the name. */
  readonly what: string;
  readonly path: Path;
  /** Whether a reader sees that name and text belong together. */
  readonly isRecognisable: boolean;
};

export type Source = { readonly pointer: string; readonly path: Path };

/**
 * `approximated`: the subject is probed, but not quite as written. `leftOut`: it is not probed. `note`: nothing is
 * lost, for example a field that does not concern probing.
 */
export type RemarkKind = 'approximated' | 'leftOut' | 'note';

export type Remark = SourcePath & { readonly kind: RemarkKind; readonly what: string; readonly reason: string };

/** A part that cannot be converted. Then no part of the file is converted. */
export type Mistake = SourcePath & { readonly detail: string };

export type Drafts = {
  readonly drafts: readonly Draft[];
  readonly remarks: readonly Remark[];
  readonly mistakes: readonly Mistake[];
};

export type FormatOptions = {
  /** The address of a target that does not name one. */
  readonly host?: string;
  /** The namespace of a target that does not name one; absent: `default`. */
  readonly namespace?: string;
  /** Whether commands stay where a handler would ask the same: for judging a file as it is written. */
  readonly keepsCommands?: boolean;
};

export type Format = {
  readonly name: string;
  /** What its documents look like, for the error about a document of no format. */
  readonly looks: string;
  readonly recognises: (document: unknown) => boolean;
  /** Gets all documents of the file that it recognises, in the file's order. */
  readonly draft: (documents: readonly SourceDocument[], options: FormatOptions) => Drafts;
};

export const noDrafts: Drafts = { drafts: [], remarks: [], mistakes: [] };

export const merged = (all: readonly Drafts[]): Drafts => ({
  drafts: all.flatMap(({ drafts }) => drafts),
  remarks: all.flatMap(({ remarks }) => remarks),
  mistakes: all.flatMap(({ mistakes }) => mistakes),
});

export const defaultNamespace = 'default';

export const targetTypeMeta = { apiVersion: 'probelet.dev/v1', kind: 'Target' } as const;
