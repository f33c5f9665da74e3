/**
 * Other programs tell names apart that become the same name of a target, such as `a_b` and `a.b`. The first of them in
 * the file keeps that name. Each further one has a digest of its own text behind it, which stays while the text does.
 */
import type { Draft, Drafts, Naming, Remark } from './manifest.ts';
import { withDigest } from './names.ts';
import { membersOf, textOf } from './values.ts';

/** No two targets have one name, as far as the file does not say the names itself. */
export function withDistinctNames({ drafts, remarks, mistakes }: Drafts): Drafts {
  const taken = new Set(drafts.flatMap((draft) => (draft.naming ? [] : [nameOf(draft)])));
  const added: Remark[] = [];
  const distinct = drafts.map((draft) => {
    const { naming } = draft;
    if (!naming) return draft;
    const made = nameOf(draft);
    const name = freeName(made, naming, taken);
    taken.add(name);
    const remark = remarkOf(draft, { naming, made, name });
    if (remark) added.push(remark);
    return name === made ? draft : renamed(draft, name);
  });
  return { drafts: distinct, remarks: [...remarks, ...added], mistakes };
}

const nameOf = ({ manifest }: Draft): string => textOf(membersOf(manifest.metadata).name) ?? '';

/** The same text may be there several times, and a digest may be another name by chance. */
function freeName(made: string, { text }: Naming, taken: ReadonlySet<string>): string {
  let name = made;
  for (let attempt = 1; taken.has(name); attempt += 1)
    name = withDigest(made, attempt === 1 ? text : `${text} ${attempt}`);
  return name;
}

const renamed = (draft: Draft, name: string): Draft => ({
  ...draft,
  manifest: { ...draft.manifest, metadata: { ...membersOf(draft.manifest.metadata), name } },
});

type Named = { readonly naming: Naming; readonly made: string; readonly name: string };

function remarkOf({ at }: Draft, { naming, made, name }: Named): Remark | undefined {
  if (name === made && naming.isRecognisable) return undefined;
  const { what, path } = naming;
  const why = name === made ? '' : `: ${made} is another one already`;
  return { document: at.document, path, kind: 'note', what, reason: `becomes the target ${name}${why}` };
}
