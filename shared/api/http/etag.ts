/** Preconditions on a target's entity tag: the resourceVersion of its spec and metadata, strong. */
import { type Checked, invalidParameters, ok, type Problem, problem } from './problem.ts';

export const entityTag = (resourceVersion: number): string => `"${resourceVersion}"`;

export type Preconditions = {
  /** Tags of which one must be the target's; `*`: any tag, but the target has to exist. */
  readonly ifMatch?: '*' | readonly string[];
  /** `If-None-Match: *`: the target must not exist yet. */
  readonly mustBeNew: boolean;
};

const entityTags = /^\s*(?:W\/)?"[\x21\x23-\x7e]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e]*")*\s*$/;

export function readPreconditions(headers: Headers): Checked<Preconditions> {
  const ifMatch = headers.get('if-match');
  const ifNoneMatch = headers.get('if-none-match');
  const isTagList = (value: string) => value.trim() === '*' || entityTags.test(value);
  if (ifMatch !== null && !isTagList(ifMatch))
    return invalidParameters([{ parameter: 'If-Match', detail: 'must be * or entity tags in double quotes' }]);
  if (ifNoneMatch !== null && ifNoneMatch.trim() !== '*')
    return invalidParameters([{ parameter: 'If-None-Match', detail: 'must be *' }]);
  return ok({ mustBeNew: ifNoneMatch !== null, ...(ifMatch !== null && { ifMatch: tagsOf(ifMatch) }) });
}

/** Why the preconditions do not hold for the stored target (undefined: there is none). */
export function failedPrecondition(
  conditions: Preconditions,
  resourceVersion: number | undefined,
): Problem | undefined {
  if (conditions.mustBeNew && resourceVersion !== undefined)
    return problem(412, 'already-exists', 'The target exists already.');
  if (!conditions.ifMatch) return undefined;
  if (resourceVersion === undefined) return problem(412, 'stale', 'There is no such target to match.');
  if (conditions.ifMatch === '*' || conditions.ifMatch.includes(entityTag(resourceVersion))) return undefined;
  return problem(412, 'stale', `The target has changed: its entity tag is ${entityTag(resourceVersion)}.`);
}

/** Weak tags are kept as they are and so never match: If-Match compares strongly. */
function tagsOf(header: string): '*' | readonly string[] {
  return header.trim() === '*' ? '*' : header.split(',').map((tag) => tag.trim());
}
