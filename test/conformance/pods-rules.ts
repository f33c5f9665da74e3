/**
 * Where probelet decides about a Pod otherwise than Kubernetes, on purpose: the numbered differences of
 * docs/semantics.md, restated here from the documentation. Nothing of the product is asked, so that a verdict of the
 * product cannot excuse itself.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = { readonly [key: string]: Json };

/** A rule by which probelet refuses what Kubernetes accepts. */
type Refusal = {
  readonly number: number;
  /** The manifest without what the rule forbids. Equal to the given one: the rule has nothing to say. */
  readonly mend: (manifest: Json) => Json;
};

export const rules = {
  limits: 11,
  secrets: 12,
  connectionHeaders: 13,
  paths: 14,
  droppedFields: 15,
  withoutKind: 16,
} as const;

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** None, of a value that is no object. */
export const fieldsOf = (value: Json | undefined): Fields => (isFields(value) ? value : {});

/** Changes every value of the manifest from the leaves upwards; `path` names fields only. */
function changed(
  value: Json,
  change: (value: Json, path: readonly string[]) => Json,
  path: readonly string[] = [],
): Json {
  if (Array.isArray(value))
    return change(
      value.map((item: Json) => changed(item, change, path)),
      path,
    );
  if (!isFields(value)) return change(value, path);
  const fields = Object.entries(value).map(([name, field]) => [name, changed(field, change, [...path, name])] as const);
  return change(Object.fromEntries(fields), path);
}

const numbersMax: Readonly<Record<string, number>> = {
  periodSeconds: 3_600,
  timeoutSeconds: 60,
  successThreshold: 10_000,
  failureThreshold: 10_000,
  initialDelaySeconds: 86_400,
  terminationGracePeriodSeconds: 86_400,
};
/** UTF-16 code units. */
const lengthsMax: Readonly<Record<string, number>> = { path: 2_048, service: 253, host: 253 };
const countsMax: Readonly<Record<string, number>> = {
  ...{ httpHeaders: 20, command: 256, ports: 100, env: 100, readinessGates: 20, containers: 20, initContainers: 20 },
};
const headerBytesMax = 1_024;
const textsMax = 64;
const textsBytesMax = 8 * 1024;

/** Of size and number: what exceeds a limit is cut down to it. */
function withinLimits(value: Json, path: readonly string[]): Json {
  const name = path.at(-1) ?? '';
  if (typeof value === 'number') return Math.min(value, numbersMax[name] ?? Number.POSITIVE_INFINITY);
  if (typeof value === 'string') return value.slice(0, lengthMax(name, value));
  if (Array.isArray(value)) return value.slice(0, countsMax[name]);
  if (name === 'httpHeaders' && isFields(value)) return shorterHeader(value);
  return (name === 'labels' || name === 'annotations') && path[0] === 'metadata' && isFields(value)
    ? fewerTexts(value)
    : value;
}

/** The dot that may end a host name does not count. */
const lengthMax = (name: string, value: string): number =>
  (lengthsMax[name] ?? Number.POSITIVE_INFINITY) + (name === 'host' && value.endsWith('.') ? 1 : 0);

const bytesOf = (text: string): number => Buffer.byteLength(text);

function shorterHeader(header: Fields): Fields {
  const { name, value } = header;
  const tooLong = bytesOf(`${name ?? ''}${value ?? ''}`) > headerBytesMax;
  return tooLong ? { ...header, value: 'short' } : header;
}

function fewerTexts(texts: Fields): Fields {
  const entries = Object.entries(texts);
  const bytes = bytesOf(entries.map(([key, text]) => `${key}${text ?? ''}`).join(''));
  const fitting =
    bytes > textsBytesMax ? entries.filter(([, text]) => bytesOf(`${text ?? ''}`) < textsBytesMax / textsMax) : entries;
  return Object.fromEntries(fitting.slice(0, textsMax));
}

const secretNames: ReadonlySet<string> = new Set(['authorization', 'cookie', 'x-api-key']);
const reference = /^(env:[A-Za-z_]\w*|(ssm|secretsmanager):[\w/+=.@:-]+)$/;

/** A header that carries a secret takes a reference to it. */
function withReferences(value: Json, path: readonly string[]): Json {
  const { name, text } = headerOf(value, path);
  const isLiteral = secretNames.has(name) && text !== '' && !reference.test(text);
  return isLiteral ? { ...fieldsOf(value), value: 'env:SECRET' } : value;
}

/** The name in lower case; empty: the value is no header. */
function headerOf(header: Json, path: readonly string[]): { readonly name: string; readonly text: string } {
  const { name, value } = path.at(-1) === 'httpHeaders' ? fieldsOf(header) : {};
  return { name: `${name ?? ''}`.toLowerCase(), text: `${value ?? ''}` };
}

const connectionNames: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'content-length'],
]);

/** Headers of the connection are the prober's own. */
function withoutConnectionHeaders(value: Json, path: readonly string[]): Json {
  const { name } = headerOf(value, path);
  const isOfConnection = connectionNames.has(name) || name.startsWith('proxy-');
  return isOfConnection ? { ...fieldsOf(value), name: 'X-Other' } : value;
}

/** A path has no user info (of a URL that it might be), and no line breaks. */
function harmlessPath(value: Json, path: readonly string[]): Json {
  if (path.at(-1) !== 'path' || path.at(-2) !== 'httpGet' || typeof value !== 'string') return value;
  return /[\r\n]/.test(value) || /^([A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/?#]*@/.test(value) ? '/' : value;
}

const refusals: readonly Refusal[] = [
  { number: rules.secrets, mend: (manifest) => changed(manifest, withReferences) },
  { number: rules.connectionHeaders, mend: (manifest) => changed(manifest, withoutConnectionHeaders) },
  { number: rules.paths, mend: (manifest) => changed(manifest, harmlessPath) },
  { number: rules.limits, mend: (manifest) => changed(manifest, withinLimits) },
];

export type Mended = {
  /** The rules by which probelet refuses the manifest; none: it has to accept what Kubernetes accepts. */
  readonly numbers: readonly number[];
  /** The same without what those rules forbid: this one has to be accepted. */
  readonly manifest: Json;
};

/** Of a manifest that Kubernetes accepts. */
export function mendedManifest(manifest: Json): Mended {
  const numbers: number[] = [];
  let mended = manifest;
  for (const { number, mend } of refusals) {
    const before = JSON.stringify(mended);
    mended = mend(mended);
    if (JSON.stringify(mended) !== before) numbers.push(number);
  }
  return { numbers, manifest: mended };
}

const ofContainer = `args command envFrom image imagePullPolicy lifecycle resizePolicy resources securityContext stdin stdinOnce
  terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir ports.hostIP ports.hostPort ports.protocol
  env.valueFrom`;
const ofSpec = `activeDeadlineSeconds affinity automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers
  hostAliases hostIPC hostNetwork hostPID hostUsers hostname imagePullSecrets nodeName nodeSelector os overhead priority
  runtimeClassName schedulerName schedulingGates securityContext serviceAccount serviceAccountName setHostnameAsFQDN
  shareProcessNamespace subdomain tolerations topologySpreadConstraints volumes`;
const ofMetadata = `creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation managedFields
  ownerReferences resourceVersion selfLink uid`;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const droppedFields: ReadonlySet<string> = new Set([
  ...words(ofContainer).flatMap((field) => [`spec.containers.${field}`, `spec.initContainers.${field}`]),
  ...words(ofSpec).map((field) => `spec.${field}`),
  ...words(ofMetadata).map((field) => `metadata.${field}`),
]);

/** `spec.containers[0].image` → `spec.containers.image` */
const withoutPlaces = (field: string): string => field.replace(/\[[^\]]*\]/g, '');

function isDropped(field: string | undefined): boolean {
  if (field === undefined) return false;
  const parts = withoutPlaces(field).split('.');
  if (parts[0] === 'status') return parts[1] !== 'podIP';
  return parts.some((_, at) => droppedFields.has(parts.slice(0, at + 1).join('.')));
}

/** The field that an error of decoding is about: unknown, of the wrong type, or a time that is none. */
function fieldOfError(error: string, manifest: Json): string | undefined {
  const time = /^decode: parsing time "([^"]*)" as /.exec(error)?.[1];
  if (time !== undefined) return timeField(manifest, time);
  const unknown = /^strict: unknown field "([^"]+)"$/.exec(error)?.[1];
  if (unknown !== undefined) return unknown;
  return /^decode: .* into Go struct field \w+\.(\S+) of type /.exec(error)?.[1];
}

/** Go does not say which field the time stands in. */
function timeField(manifest: Json, time: string): string | undefined {
  const { metadata } = fieldsOf(manifest);
  const found = ['creationTimestamp', 'deletionTimestamp'].find((field) => fieldsOf(metadata)[field] === time);
  return found && `metadata.${found}`;
}

export type Refused = {
  readonly manifest: Json;
  readonly errors: readonly string[];
  /** Of refused values; empty for manifests that could not be decoded. */
  readonly errorFields: readonly string[];
};

/** The rules by which probelet accepts what Kubernetes refuses; empty: it has to refuse it too. */
export function acceptingRules({ manifest, errors, errorFields }: Refused): readonly number[] {
  if (errors.length === 1 && errors[0] === 'kind/apiVersion') return hasNoKind(manifest) ? [rules.withoutKind] : [];
  const ofDecoding = errors.filter((error) => !isOfValidation(error)).map((error) => fieldOfError(error, manifest));
  const isComplete = errorFields.length > 0 || !errors.some(isOfValidation);
  return isComplete && [...errorFields, ...ofDecoding].every(isDropped) ? [rules.droppedFields] : [];
}

/** Its fields are `errorFields`. */
const isOfValidation = (error: string): boolean => error.startsWith('Pod "');

function hasNoKind(manifest: Json): boolean {
  const { apiVersion = null, kind = null } = fieldsOf(manifest);
  return apiVersion === null && kind === null;
}
