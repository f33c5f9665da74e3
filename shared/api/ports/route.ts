/** A route of the API: its handler and its whole documentation. */
import type { TargetName } from '../../core/spec/names.ts';
import '../http/zod-openapi.ts';
import * as z from 'zod';
import type { ProblemStatus } from '../http/problem.ts';
import type { ApiDeps } from './deps.ts';

export type ApiRequest = {
  readonly raw: Request;
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
};

export type Handler = (request: ApiRequest, deps: ApiDeps) => Promise<Response>;

export type Method = 'get' | 'put' | 'patch' | 'delete' | 'post';

export type Route = {
  readonly method: Method;
  /** As OpenAPI writes it, parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: { readonly mediaTypes: readonly string[]; readonly schema: z.ZodType; readonly required: boolean };
  readonly answers: { readonly [status: number]: Answer };
  /** Problems beside those that any route can return: 400, 401, 500, 503. */
  readonly problems: readonly ProblemStatus[];
  /** Needs no token. */
  readonly anonymous?: true;
  readonly handle: Handler;
};

export type Answer = {
  readonly description: string;
  readonly mediaType?: string;
  readonly schema: z.ZodType;
  readonly headers?: { readonly [name: string]: string };
};

export const targetsPath = '/v1/namespaces/{namespace}/targets';
export const targetPath = `${targetsPath}/{name}`;
/** The advice for a client that sends more than one target to a route that takes one. */
export const severalTargets = `PUT ${targetsPath} takes several`;

const dnsLabelPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';

const namespaceParam = z.string().openapi({ pattern: dnsLabelPattern, maxLength: 63 });

export const namespaceParams = z.object({ namespace: namespaceParam });
export const targetParams = z.object({
  namespace: namespaceParam,
  name: z
    .string()
    .openapi({ pattern: dnsLabelPattern, maxLength: 63, description: 'A DNS subdomain of at most 253 characters.' }),
});

export const targetNameOf = ({ params }: ApiRequest): TargetName => ({
  namespace: params.namespace ?? '',
  name: params.name ?? '',
});
