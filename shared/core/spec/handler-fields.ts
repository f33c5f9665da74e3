/**
 * The fields of a probe's handler, described once. The types below, the defaults and the schemas of the API and the
 * store are derived from this description.
 */

import type { FieldProblem } from './field-problem.ts';
import type { ContainerPort, EnvVar, HttpHeader, PortRef } from './types.ts';

export type Field =
  /** Without a default a text may be absent. */
  | { readonly kind: 'text'; readonly default?: string }
  /** Absent or empty: the default. */
  | { readonly kind: 'choice'; readonly of: readonly string[]; readonly default: string }
  /** May be absent. */
  | { readonly kind: 'headers' }
  | { readonly kind: 'texts' | 'port' | 'portRef' };

export type Shape = { readonly [name: string]: Field };

type Values = {
  readonly text: string;
  readonly choice: string;
  readonly headers: readonly HttpHeader[];
  readonly texts: readonly string[];
  readonly port: number;
  readonly portRef: PortRef;
};

type Value<Of extends Field> = Of extends { kind: 'choice'; of: readonly (infer One)[] } ? One : Values[Of['kind']];

/** A header without a value has an empty one. */
export type HeaderInput = Pick<HttpHeader, 'name'> & { readonly value?: string | undefined };

type InputValue<Of extends Field> = Of['kind'] extends 'headers'
  ? readonly HeaderInput[]
  : Value<Of> | (Of['kind'] extends 'choice' ? '' : never);

type RequiredOf<Of extends Shape> = {
  [Name in keyof Of]: Of[Name]['kind'] extends 'texts' | 'port' | 'portRef' ? Name : never;
}[keyof Of];
type AlwaysStored<Of extends Shape> =
  | RequiredOf<Of>
  | { [Name in keyof Of]: Of[Name] extends { default: string } ? Name : never }[keyof Of];

/** The form that clients write. */
export type InputOf<Of extends Shape> = { readonly [Name in RequiredOf<Of>]: Value<Of[Name]> } & {
  readonly [Name in Exclude<keyof Of, RequiredOf<Of>>]?: InputValue<Of[Name]> | undefined;
};

/** The form with its defaults. */
export type StoredOf<Of extends Shape> = { readonly [Name in AlwaysStored<Of>]: Value<Of[Name]> } & {
  readonly [Name in Exclude<keyof Of, AlwaysStored<Of>>]?: Value<Of[Name]>;
};

/** The form without defaults, in which a choice may be any text: kubelet resolves that too. */
export type UncheckedOf<Of extends Shape> = { readonly [Name in RequiredOf<Of>]: Value<Of[Name]> } & {
  readonly [Name in Exclude<keyof Of, RequiredOf<Of>>]?: Values[Of[Name]['kind']];
};

const requiredKinds: ReadonlySet<Field['kind']> = new Set(['texts', 'port', 'portRef']);

/** Clients have to write it. */
export const isRequired = ({ kind }: Field): boolean => requiredKinds.has(kind);

/** Every stored handler has it. */
export const isAlwaysStored = (field: Field): boolean => isRequired(field) || 'default' in field;

/** What `make` returns for each field, by its name. */
export const mapShape = <Made>(shape: Shape, make: (field: Field) => Made): { readonly [name: string]: Made } =>
  Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, make(field)]));

type Fields = { readonly [name: string]: unknown };

/** The stored form of an input of this shape: a `StoredOf` of an `InputOf`. */
export const withDefaults = (shape: Shape, input: Fields): Fields =>
  Object.fromEntries(
    Object.entries(shape)
      .map(([name, field]) => [name, storedValue(field, input[name])])
      .filter(([, value]) => value !== undefined),
  );

function storedValue(field: Field, value: unknown): unknown {
  if (field.kind === 'headers') return (value as readonly HeaderInput[] | undefined)?.map(withValue);
  // To Kubernetes an empty text is absent where there is a default.
  return 'default' in field ? value || field.default : value;
}

const withValue = ({ name, value = '' }: HeaderInput): HttpHeader => ({ name, value });

// What the code that does not speak a handler's protocol has to know about it: a row of the table in handlers.ts.

/** The container and the target that are probed. */
export type ProbeSubject = {
  readonly target: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** The counterpart of kubelet's pod IP. */
  readonly host: string;
  readonly container: {
    readonly name: string;
    readonly ports?: readonly ContainerPort[];
    readonly env?: readonly EnvVar[];
  };
};

/** A handler that cannot be resolved is a prober error: it never counts as a failure. */
export type Resolved<Request> =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'error'; readonly error: string };

export type HandlerRow<Fields extends Shape, Request> = {
  readonly shape: Fields;
  /** The rules of its fields; each problem is located below `pointer`. */
  readonly problems: (handler: InputOf<Fields>, pointer: string) => readonly FieldProblem[];
  /** The request for its prober. */
  readonly request: (handler: UncheckedOf<Fields>, subject: ProbeSubject, timeoutMs: number) => Resolved<Request>;
  /** The entry of `probeCpuMs` that gives the cost of a probe. */
  readonly cost: (handler: StoredOf<Fields>) => ProbeCost;
  /** File descriptors that a probe in flight may hold. */
  readonly descriptors: number;
  /** The host to dial, where `host` is the target's. Absent: nothing is dialled, a command runs. */
  readonly hostOf?: (handler: UncheckedOf<Fields>, host: string) => string;
};

/** Lets the compiler infer the row's types from its shape. */
export const handlerRow = <const Fields extends Shape, Request>(
  row: HandlerRow<Fields, Request>,
): HandlerRow<Fields, Request> => row;

export const resolved = <Request>(request: Request): Resolved<Request> => ({ kind: 'request', request });

/**
 * CPU of one probe, ms of one vCPU: at least two and a half times what `npm run bench` prints for the exchange
 * alone, saturated. A small arm64 function is slower than the machine of that measurement, and loop, commit and garbage
 * collection come on top. `exec` starts a process.
 */
export const probeCpuMs = { http: 0.5, https: 2, tcp: 0.2, grpc: 0.8, exec: 10 } as const;

export type ProbeCost = keyof typeof probeCpuMs;
