/**
 * pods.jsonl: what Kubernetes' API server accepts, refuses and defaults. Differences on purpose are reported by their
 * number.
 */
import { decodeManifest } from '../../shared/api/schema/decode-manifest.ts';
import { specView } from '../../shared/api/targets/target-view.ts';
import { compare } from './compare.ts';
import { acceptingRules, fieldsOf, type Json, mendedManifest } from './pods-rules.ts';
import type { Finding, Vector, VectorRunner } from './runner.ts';

type PodVector = {
  readonly manifest: Json;
  readonly accepted?: boolean;
  readonly defaulted?: Spec;
  readonly errors?: readonly string[];
  readonly errorFields?: readonly string[];
};

export const runPods: VectorRunner = (vector: Vector): Finding => {
  const { manifest, accepted = false, defaulted, errors = [], errorFields = [] } = vector as unknown as PodVector;
  return accepted ? differenceOfAccepted(manifest, defaulted) : differenceOfRefused({ manifest, errors, errorFields });
};

/** Refused by number only if probelet takes the manifest as soon as it is mended by exactly those rules. */
function differenceOfAccepted(manifest: Json, defaulted: Spec | undefined): Finding {
  const { numbers, manifest: mended } = mendedManifest(manifest);
  const decoded = decode(manifest);
  if (numbers.length === 0) return decoded.kind === 'ok' ? compareSpecs(decoded.spec, defaulted) : refusal(decoded);
  if (decoded.kind === 'ok')
    return `accepted although difference ${numbers.join(' and ')} of docs/semantics.md applies`;
  const again = decode(mended);
  return again.kind === 'ok' ? { kind: 'byRule', rules: numbers } : refusal(again);
}

function differenceOfRefused(vector: Parameters<typeof acceptingRules>[0]): Finding {
  const rules = acceptingRules(vector);
  if (decode(vector.manifest).kind === 'refused') return undefined;
  return rules.length > 0 ? { kind: 'byRule', rules } : `accepted; Kubernetes refuses: ${vector.errors.join('; ')}`;
}

type Decoded = { readonly kind: 'ok'; readonly spec: Spec } | { readonly kind: 'refused'; readonly why: string };

function decode(manifest: Json): Decoded {
  const { metadata } = fieldsOf(manifest);
  const { namespace, name } = fieldsOf(metadata);
  const decoded = decodeManifest(manifest, { namespace: `${namespace || 'default'}`, name: `${name ?? ''}` });
  if (decoded.kind !== 'ok') return { kind: 'refused', why: JSON.stringify(decoded) };
  return { kind: 'ok', spec: JSON.parse(JSON.stringify(specView({ spec: decoded.value.target.spec }))) };
}

const refusal = (decoded: Extract<Decoded, { kind: 'refused' }>): string =>
  `refused; Kubernetes accepts: ${decoded.why}`;

type Spec = { readonly [field: string]: Json };

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const compareSpecs = (actual: Spec, expected: Spec | undefined): string | undefined =>
  compare('spec', probing(actual), probing(expected ?? {}));

/** What concerns probing, in one form: Kubernetes writes empty texts and no zeros, probelet the reverse. */
function probing(spec: Spec): unknown {
  const { restartPolicy, terminationGracePeriodSeconds, containers, initContainers } = spec;
  return {
    restartPolicy,
    terminationGracePeriodSeconds,
    containers: listOf(containers).map(container),
    initContainers: listOf(initContainers).map(container),
  };
}

function container(value: Json): unknown {
  const { name, restartPolicy, ports, livenessProbe, readinessProbe, startupProbe } = fieldsOf(value);
  return {
    name,
    restartPolicy,
    ports: listOf(ports).map(port),
    livenessProbe: probe(livenessProbe),
    readinessProbe: probe(readinessProbe),
    startupProbe: probe(startupProbe),
  };
}

function port(value: Json): unknown {
  const { name, containerPort } = fieldsOf(value);
  return { name: name || undefined, containerPort };
}

function probe(value: Json | undefined): unknown {
  if (value === undefined) return undefined;
  const { exec, httpGet, tcpSocket, grpc, initialDelaySeconds = 0, ...numbers } = fieldsOf(value);
  return {
    ...numbers,
    initialDelaySeconds,
    exec,
    httpGet: withoutEmpty(httpGet),
    tcpSocket: withoutEmpty(tcpSocket),
    grpc: withoutEmpty(grpc),
  };
}

/** An empty host or service, and an empty list of headers, are none. */
function withoutEmpty(handler: Json | undefined): unknown {
  if (handler === undefined) return undefined;
  const entries = Object.entries(fieldsOf(handler)).map(([name, value]): [string, unknown] =>
    name === 'httpHeaders'
      ? [name, listOf(value).map((header) => ({ value: '', ...fieldsOf(header) }))]
      : [name, value],
  );
  return Object.fromEntries(
    entries.filter(([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0)),
  );
}
