/** Names of targets from names that other programs allow, each once in a file. */
import { createHash } from 'node:crypto';
import { namespaceLengthMax } from '../core/spec/limits.ts';
import type { Draft, Drafts, Naming, Remark } from './manifest.ts';
import { membersOf, textOf } from './values.ts';

const digestLength = 6;

/**
 * Lower case, with `-` for each run of other characters than letters and digits, so that it is a name of a target and
 * of a container. Letters of other alphabets have no place in it: a digest of the text keeps such names apart, and
 * stays the same. So it does where nothing else is left. Empty for an empty text.
 */
export function targetName(text: string): string {
  const isAscii = !/\P{ASCII}/u.test(text);
  const plain = isAscii ? text : text.normalize('NFKD').replace(/\p{M}/gu, '');
  const parts = plain.toLowerCase().split(/[^a-z0-9]+/);
  const joined = parts.filter((part) => part !== '').join('-');
  if (isAscii && (joined !== '' || text.trim() === '')) return cut(joined, namespaceLengthMax);
  return withDigest(joined, text.trim());
}

/** A name that another target has, with a digest of the text that this one is made of. */
export function withDigest(name: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
  const named = cut(name, namespaceLengthMax - digestLength - 1);
  return named === '' ? `x-${digest}` : `${named}-${digest}`;
}

function cut(text: string, lengthMax: number): string {
  const short = text.slice(0, lengthMax);
  return short.endsWith('-') ? short.slice(0, -1) : short;
}

// Other programs distinguish names that become the same name of a target, such as `a_b` and `a.b`. The first of them in
// the file keeps that name. Each further one has a digest of its own text behind it, which stays while the text does.

/** Renames drafts so that no two have one name. Names that the file itself says stay. */
export function withDistinctNames({ drafts, remarks, mistakes }: Drafts): Drafts {
  const taken = new Set(drafts.flatMap((draft) => (draft.naming ? [] : [nameOf(draft)])));
  const added: Remark[] = [];
  const distinct = drafts.map((draft) => {
    const { naming } = draft;
    if (!naming) return draft;
    const made = nameOf(draft);
    const name = freeName(made, naming, taken);
    taken.add(name);
    const remark = remarkOf(draft, naming, made, name);
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

function remarkOf({ at }: Draft, naming: Naming, made: string, name: string): Remark | undefined {
  if (name === made && naming.isRecognisable) return undefined;
  const { what, path } = naming;
  const why = name === made ? '' : `: ${made} is another one already`;
  return { document: at.document, path, kind: 'note', what, reason: `becomes the target ${name}${why}` };
}
