/** What one kind of handler is to everything that does not speak its protocol: a row of the table in handlers.ts. */
import type { FieldProblem } from './field-problem.ts';
import type { InputOf, Shape, StoredOf, UncheckedOf } from './handler-fields.ts';
import type { ProbeCost } from './handlers.ts';
import type { ContainerPort, EnvVar } from './spec.ts';

/** Whose probe it is. */
export type ProbeSubject = {
  readonly target: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** What a pod IP is to kubelet. */
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
  /** The rules of its fields, each problem with its place below `pointer`. */
  readonly problems: (handler: InputOf<Fields>, pointer: string) => readonly FieldProblem[];
  /** What its prober is asked. */
  readonly request: (handler: UncheckedOf<Fields>, subject: ProbeSubject, timeoutMs: number) => Resolved<Request>;
  /** The entry of `probeCpuMs` that is the cost of a probe. */
  readonly cost: (handler: StoredOf<Fields>) => ProbeCost;
  /** File descriptors that a probe in flight may hold. */
  readonly descriptors: number;
  /** What is dialled, `host` being the target's; absent: nothing is, a command runs. */
  readonly hostOf?: (handler: UncheckedOf<Fields>, host: string) => string;
};

/** Lets the compiler infer the row's types from its shape. */
export const handlerRow = <const Fields extends Shape, Request>(
  row: HandlerRow<Fields, Request>,
): HandlerRow<Fields, Request> => row;

export const resolved = <Request>(request: Request): Resolved<Request> => ({ kind: 'request', request });
