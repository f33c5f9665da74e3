/**
 * The name of a target that is created by POST: metadata.name, or one that begins with metadata.generateName. Source:
 * apiserver, pkg/storage/names/generate.go, and apimachinery, pkg/util/rand.
 */
import type { FieldProblem } from '../../core/spec/field-problem.ts';
import { targetNameLengthMax } from '../../core/spec/limits.ts';
import type { Random } from '../../lib/random.ts';
import { type Checked, invalidFields, type Problem } from '../http/problem.ts';
import { type DecodedManifest, decodeManifest } from './decode-manifest.ts';

/** Kubernetes' alphabet: without vowels and similar characters, so that it forms no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
/** Kubernetes' limit for a generated name; a given name may be longer. */
const generatedLengthMax = 63;

export type NewManifest = DecodedManifest & {
  /** Present: the name was generated, and this generates another one. */
  readonly rename?: () => string;
};

type Metadata = { readonly [field: string]: unknown };

/** The manifest under its name, or a 422 that names every invalid field. */
export function decodeNewManifest(body: unknown, namespace: string, random: Random): Checked<NewManifest> {
  const { name, generateName, ...rest } = metadataOf(body);
  if (isGiven(name)) return decodeManifest(body, { namespace, name: typeof name === 'string' ? name : '' });
  if (typeof generateName !== 'string' || generateName === '')
    return withoutName(decodeManifest(withMetadata(body, rest), { namespace, name: placeholder }), generateName);
  const rename = () => generatedName(generateName, random);
  const first = rename();
  const decoded = decodeManifest(withMetadata(body, { ...rest, name: first }), { namespace, name: first });
  return decoded.kind === 'ok' ? { ...decoded, value: { ...decoded.value, rename } } : pointedAtPrefix(decoded);
}

export function generatedName(prefix: string, random: Random): string {
  const characters = Array.from({ length: suffixLength }, () => alphabet[Math.floor(random.next() * alphabet.length)]);
  return prefix.slice(0, generatedLengthMax - suffixLength) + characters.join('');
}

/** Takes the place of the missing name while the rest is validated. */
const placeholder = 'name';

const isObject = (value: unknown): value is Metadata =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const metadataOf = (body: unknown): Metadata => (isObject(body) && isObject(body.metadata) ? body.metadata : {});

const withMetadata = (body: unknown, metadata: Metadata): unknown =>
  isObject(body) && isObject(body.metadata) ? { ...body, metadata } : body;

/** Kubernetes reads null and an empty text as absent. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/**
 * Reports the missing name together with the other problems; without a metadata object to hold a name, it is the only
 * problem.
 */
function withoutName(decoded: Checked<DecodedManifest>, generateName: unknown): Problem {
  const others = fieldProblemsOf(decoded);
  if (others.some(({ pointer }) => pointer === '' || pointer === '/metadata')) return invalidFields(others);
  const missing = isGiven(generateName)
    ? { pointer: '/metadata/generateName', detail: 'must be a string' }
    : { pointer: '/metadata/name', detail: 'is required, or metadata.generateName instead' };
  return invalidFields([missing, ...others]);
}

const fieldProblemsOf = (decoded: Checked<DecodedManifest>): readonly FieldProblem[] =>
  decoded.kind === 'ok' ? [] : (decoded.errors ?? []).filter((each) => 'pointer' in each);

/** The client knows only the prefix, so a problem of the name is reported on the prefix. */
function pointedAtPrefix(problem: Problem): Problem {
  const detail = `must begin a DNS subdomain of at most ${targetNameLengthMax} characters`;
  const errors = problem.errors?.map((each) =>
    'pointer' in each && each.pointer === '/metadata/name' ? { pointer: '/metadata/generateName', detail } : each,
  );
  return { ...problem, ...(errors && { errors }) };
}
