/** One of `endpoints`, its values as Gatus reads them, and remarks about it. */
import type { Path, Remark, RemarkKind, SourceDocument } from '../manifest.ts';
import { isMembers, type Members, membersOf, textOf } from '../values.ts';

export type Endpoint = {
  readonly document: SourceDocument;
  readonly path: Path;
  readonly value: Members;
  /** Where variables of the environment stand, from the endpoint. */
  readonly variables: readonly Path[];
};

export function endpointAt(document: SourceDocument, value: unknown, path: Path): Endpoint {
  const read = expanded(value);
  return { document, path, value: membersOf(read.value), variables: read.variables };
}

/** The place of a variable in the field. */
export const variableIn = ({ variables }: Endpoint, field: Path): Path | undefined =>
  variables.find((at) => field.every((token, index) => at[index] === token));

/** What a remark says of an endpoint or of one of its parts, and the place of that part. */
export type Divergence = { readonly reason: string; readonly at?: Path; readonly part?: string };

export const remarkOf = (endpoint: Endpoint, kind: RemarkKind, { reason, at = [], part }: Divergence): Remark => ({
  document: endpoint.document,
  path: [...endpoint.path, ...at],
  kind,
  what: `endpoint ${textOf(endpoint.value.name) ?? endpoint.path.at(-1)}${part === undefined ? '' : `: ${part}:`}`,
  reason,
});

// Values as Gatus reads them. Before it parses its file it puts in variables of the environment, whose values are not
// known here; `$$` stands for a dollar. A boolean may have the words of YAML 1.1.

/** Go's `os.Expand`: names, and the one-character variables of a shell. */
const hasVariable = (text: string): boolean => /\$[\w{*#@!?-]/.test(text.replaceAll('$$', ''));

/** The value with dollars unescaped, and the places of variables in it. */
function expanded(root: unknown): { readonly value: unknown; readonly variables: readonly Path[] } {
  const variables: Path[] = [];
  const textIn = (text: string, path: Path): string => {
    if (hasVariable(text)) variables.push(path);
    return text.replaceAll('$$', '$');
  };
  const valueIn = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return textIn(value, path);
    if (Array.isArray(value)) return value.map((each, index) => valueIn(each, [...path, index]));
    if (!isMembers(value)) return value;
    const members = Object.entries(value).map(([key, each]) => [textIn(key, path), valueIn(each, [...path, key])]);
    return Object.fromEntries(members);
  };
  return { value: valueIn(root, []), variables };
}

const truths: ReadonlySet<unknown> = new Set([true, 'y', 'Y', 'yes', 'on']);
const falsehoods: ReadonlySet<unknown> = new Set([false, 'n', 'N', 'no', 'off']);

/** Undefined: absent, or no boolean. */
export function truthOf(value: unknown): boolean | undefined {
  if (truths.has(value)) return true;
  return falsehoods.has(value) ? false : undefined;
}

/** A number or a boolean counts as its text. */
export const plainText = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) && value !== '' ? String(value) : undefined;
