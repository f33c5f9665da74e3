/** One of `endpoints`, and remarks about it. */

import type { Path, Remark, RemarkKind, SourceDocument } from '../manifest.ts';
import { type Members, membersOf, textOf } from '../values.ts';
import { expanded } from './values.ts';

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

/** Where in the field a variable stands. */
export const variableIn = ({ variables }: Endpoint, field: Path): Path | undefined =>
  variables.find((at) => field.every((token, index) => at[index] === token));

export type Remarked = { readonly reason: string; readonly at?: Path; readonly part?: string };

export const remarkOf = (endpoint: Endpoint, kind: RemarkKind, { reason, at = [], part }: Remarked): Remark => ({
  document: endpoint.document,
  path: [...endpoint.path, ...at],
  kind,
  what: `endpoint ${textOf(endpoint.value.name) ?? endpoint.path.at(-1)}${part === undefined ? '' : `: ${part}:`}`,
  reason,
});
