/** What the code that does not speak a handler's protocol has to know about it: a row of the table in handlers.ts. */
import type { FieldProblem } from './field-problem.ts';
import type { InputOf, Shape, StoredOf, UncheckedOf } from './handler-fields.ts';
import type { ProbeCost } from './handlers.ts';
import type { ContainerPort, EnvVar } from './spec.ts';

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
