/** Why the API gave no usable answer: one line that says what to do next. */
import type { problemDocument } from '../../shared/api/http/problem.ts';
import { codeOf } from '../../shared/lib/error-code.ts';

export type ClientFault =
  /** No connection, or one that broke. */
  | 'unreachable'
  /** No answer in time. */
  | 'slow'
  /** The answer is not the API's, such as a page of a proxy. */
  | 'foreign'
  | 'unauthorized'
  /** The answer has more than the client takes. */
  | 'large'
  /** The API refused the request by a problem document. */
  | 'refused';

type Refusal = ReturnType<typeof problemDocument>;

export class ClientError extends Error {
  readonly fault: ClientFault;
  /** Absent if there was no answer. */
  readonly status: number | undefined;

  constructor(fault: ClientFault, message: string, status?: number) {
    super(message);
    this.fault = fault;
    this.status = status;
  }
}

/** Errors of a refusal that one line names. */
const namedErrorsMax = 10;

/** The detail of a problem, and each wrong field with its reason. */
export function refusalLine({ detail, errors = [] }: Pick<Refusal, 'detail' | 'errors'>): string {
  const named = errors.slice(0, namedErrorsMax).map((error) => {
    const place = 'pointer' in error ? error.pointer : error.parameter;
    return place === '' ? error.detail : `${place} ${error.detail}`;
  });
  const more = errors.length - named.length;
  const listed = [...named, ...(more > 0 ? [`${more} more`] : [])].join('; ');
  return listed === '' ? detail : `${detail.replace(/\.$/, '')}: ${listed}`;
}

/** The line for a request without an answer. */
export function connectionError(error: unknown, server: string): ClientError {
  const code = codeOf(error);
  const next = "start it with 'probelet start', or name another with --server URL";
  return new ClientError('unreachable', `cannot reach ${server} (${code}): ${next}`);
}
