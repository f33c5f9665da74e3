/** The answers that an endpoint of Gatus may give: what Gatus knows then, and whether a probe succeeds. */
import type { Values } from './conditions.ts';

export type ProbedBy = 'httpGet' | 'tcpSocket' | 'grpc';

/** What is asked of a connection: the schemes of Gatus that a connection stands for. */
export type Connection = 'tcp' | 'tls' | 'starttls' | 'ssh' | 'ws' | 'wss';

export type Outcome = {
  readonly kind: 'unanswered' | 'answered' | 'refused';
  readonly isSuccess: boolean;
  readonly values: Values;
};

/** Of what no request asks, Gatus knows nothing or zero. */
const unasked: Values = {
  '[BODY]': '',
  '[CERTIFICATE_EXPIRATION]': '0',
  '[DNS_RCODE]': '',
  '[DOMAIN_EXPIRATION]': undefined,
  '[IP]': undefined,
  '[RESPONSE_TIME]': undefined,
  '[STATUS]': '0',
};

/** Where it does not matter what is answered. */
export const unknown: Values = Object.fromEntries(
  [...Object.keys(unasked), '[CONNECTED]'].map((name) => [name, undefined]),
);

const unanswered: Outcome = { kind: 'unanswered', isSuccess: false, values: { ...unasked, '[CONNECTED]': 'false' } };

const answered = (isSuccess: boolean, values: Values): Outcome => ({
  kind: isSuccess ? 'answered' : 'refused',
  isSuccess,
  values: { ...unasked, '[CONNECTED]': 'true', ...values },
});

/** Those that end a request. kubelet's range for httpGet is 200 to 399. */
const http: readonly Outcome[] = [
  unanswered,
  ...Array.from({ length: 400 }, (_, index) => index + 200).map((status) =>
    answered(status < 400, {
      '[STATUS]': String(status),
      '[BODY]': undefined,
      '[CERTIFICATE_EXPIRATION]': undefined,
    }),
  ),
];

const statuses = ['SERVING', 'NOT_SERVING', 'UNKNOWN', 'SERVICE_UNKNOWN'] as const;

const grpc: readonly Outcome[] = [
  unanswered,
  ...statuses.map((status) => answered(status === 'SERVING', { '[BODY]': JSON.stringify({ status }) })),
];

export type Asked = {
  readonly by: ProbedBy;
  readonly connection?: Connection;
  /** A body, which a connection sends and waits for an answer to. */
  readonly hasBody?: boolean;
  /** Whether it runs a command over SSH, whose exit code is the status. */
  readonly logsIn?: boolean;
};

export function outcomesOf({ by, connection = 'tcp', hasBody = false, logsIn = false }: Asked): readonly Outcome[] {
  if (by === 'httpGet') return http;
  if (by === 'grpc') return grpc;
  const isSecure = connection === 'tls' || connection === 'starttls';
  const hasAnswer = hasBody || logsIn || connection === 'ws' || connection === 'wss';
  const values: Values = {
    ...(hasAnswer && { '[BODY]': undefined }),
    ...(isSecure && { '[CERTIFICATE_EXPIRATION]': undefined }),
    ...(logsIn && { '[STATUS]': undefined }),
  };
  // Without a login the status of SSH says whether there was an answer.
  const none = connection === 'ssh' && !logsIn ? { ...unanswered.values, '[STATUS]': '1' } : unanswered.values;
  return [{ ...unanswered, values: none }, answered(true, values)];
}
