/** probelet's own manifests, which are sent unchanged: documents without a kind, Target and TargetList. */
import { type Draft, type Format, type FormatOptions, merged, noDrafts, type SourcePath } from './manifest.ts';
import { isMembers, listOf, type Members, membersOf, textOf, valueAt } from './values.ts';

const apiVersion = 'probelet.dev/v1';

export const target: Format = {
  name: 'target',
  looks: `a Target (apiVersion ${apiVersion}, or a spec alone)`,
  recognises: (document) => {
    const { kind, apiVersion: version, spec } = membersOf(document);
    return kind === undefined ? isMembers(spec) : textOf(version)?.startsWith('probelet.dev/') === true;
  },
  draft: (documents, options) =>
    merged(documents.flatMap((document) => targetsAt({ document, path: [] }).map((at) => draftAt(at, options)))),
};

function targetsAt(at: SourcePath): readonly SourcePath[] {
  const { kind, items } = membersOf(at.document.value);
  return kind === 'TargetList' ? listOf(items).map((_, index) => ({ ...at, path: ['items', index] })) : [at];
}

function draftAt(at: SourcePath, options: FormatOptions) {
  const value = valueAt(at.document.value, at.path);
  if (!isMembers(value)) return { ...noDrafts, mistakes: [{ ...at, detail: 'must be an object' }] };
  const draft: Draft = { manifest: addressed(value, options), at, sources: [{ pointer: '', path: at.path }] };
  return { ...noDrafts, drafts: [draft] };
}

/** The option is for what names no address. */
function addressed(manifest: Members, { host }: FormatOptions): Members {
  const spec = membersOf(manifest.spec);
  const annotated = valueAt(manifest, ['metadata', 'annotations', 'probelet.dev/host']);
  const isAddressed = [spec.host, valueAt(manifest, ['status', 'podIP']), annotated].some((each) => textOf(each));
  return host === undefined || isAddressed ? manifest : { ...manifest, spec: { ...spec, host } };
}
