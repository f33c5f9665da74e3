/**
 * The target that a body refers to, and its state: its metadata.uid and metadata.resourceVersion have to equal
 * the stored ones, as in Kubernetes (apiserver, pkg/registry/generic/registry/store.go). Those of a Pod come from a
 * cluster and say nothing about the target.
 */
import type { FieldProblem } from '../../core/spec/field-problem.ts';
import type { TargetRecord } from '../../core/spec/records.ts';
import { type Checked, invalidFields, ok, type Problem, problem } from '../http/problem.ts';

/** The identity in the body; absent: there is nothing to compare. */
export type SentIdentity = { readonly uid?: string; readonly resourceVersion?: string };

const fields = ['uid', 'resourceVersion'] as const;
const paths: ReadonlySet<string> = new Set(fields.map((field) => `metadata.${field}`));

type Members = { readonly [field: string]: unknown };

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const isPod = ({ apiVersion, kind }: Members): boolean => kind === 'Pod' || apiVersion === 'v1';

/** For a whole manifest or a patch. 422 for a value that is not text; null and empty count as absent. */
export function sentIdentity(body: unknown): Checked<SentIdentity> {
  const members = membersOf(body);
  if (isPod(members)) return ok({});
  const metadata = membersOf(members.metadata);
  const given = fields.filter((field) => metadata[field] !== undefined && metadata[field] !== null);
  const wrong = given.filter((field) => typeof metadata[field] !== 'string');
  if (wrong.length > 0)
    return invalidFields(wrong.map((field) => ({ pointer: `/metadata/${field}`, detail: 'must be a string' })));
  return ok(
    Object.fromEntries(given.filter((field) => metadata[field] !== '').map((field) => [field, metadata[field]])),
  );
}

/** A 409 that names each field that differs from the stored target (undefined: there is none); undefined: all agree. */
export function identityConflict(sent: SentIdentity, stored: TargetRecord | undefined): Problem | undefined {
  const errors = fields.flatMap((field): readonly FieldProblem[] => {
    const now = stored && `${stored[field]}`;
    if (sent[field] === undefined || sent[field] === now) return [];
    const instead = now === undefined ? 'there is no such target' : `"${now}" is stored`;
    return [{ pointer: `/metadata/${field}`, detail: `is ${JSON.stringify(sent[field])}, but ${instead}` }];
  });
  if (errors.length === 0) return undefined;
  const advice = stored
    ? 'The target is not as the body says: read it again and repeat the change, or leave these fields out.'
    : 'The body means a target that exists: leave these fields out to register a new one.';
  return { ...problem(409, 'conflict', advice), errors };
}

/** The removed fields of the body, except those that were compared instead. */
export const withoutIdentity = (body: unknown, ignored: readonly string[]): readonly string[] =>
  isPod(membersOf(body)) ? ignored : ignored.filter((path) => !paths.has(path));
