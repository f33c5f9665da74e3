/**
 * The API behind an HTTP API. API Gateway authenticates callers, by IAM unless the deployment configures another
 * authorizer. A request that passed without authentication is rejected here as well, so that a misconfigured route does
 * not open the API.
 */
import { apiApp } from '../../shared/api/app.ts';
import { problem, problemResponse } from '../../shared/api/http/problem.ts';
import type { Quotas } from '../../shared/core/shards/quota.ts';
import type { ExecRefusal } from '../../shared/exec/exec.ts';
import { namedRefusal, type RunnerNames } from '../../shared/exec/named.ts';
import { dialPolicy, dialRefusal } from '../../shared/net/policy.ts';
import { type Advise, adviser } from '../../shared/prober/advice.ts';
import { awsSecretRefusal } from '../../shared/secrets/aws.ts';
import type { Poison } from '../../shared/store/records/items.ts';
import type { Environment, InvocationContext } from '../lambda/environment.ts';
import type { FunctionPorts } from '../lambda/ports.ts';
import { decodeHttpEvent, encodeResponse, type HttpAnswer } from './http-event.ts';

export type ApiFunctionPorts = FunctionPorts & {
  /** Allows anonymous requests. For an emulator, which does not authenticate. */
  readonly anonymous: boolean;
  /** If absent, only the table's capacity limits registrations. */
  readonly quotas?: Quotas;
  /** Finds probes of a spec that the deployed prober would refuse. If absent, answers contain no such advice. */
  readonly advise?: Advise;
};

/** Served without authentication. */
const anonymousPath = '/healthz';
const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export function apiFunction(ports: ApiFunctionPorts) {
  const { metrics, anonymous, ...deps } = ports;
  const { log } = ports;
  const onPoison = ({ key, detail }: Poison) => log.error('item cannot be read', { key, detail });
  const app = apiApp({ ...deps, health: () => ({ ok: true, quarantined: [] }), onPoison });

  const answer = async (event: unknown): Promise<Response> => {
    const decoded = decodeHttpEvent(event);
    if (decoded.kind === 'malformed') {
      log.error('malformed event', { detail: decoded.detail });
      metrics.emit({ EventsMalformed: 1 });
      return problemResponse(problem(400, 'malformed-event', 'This is not an event of an HTTP API.'));
    }
    if (decoded.kind === 'refused') return problemResponse(problem(400, 'malformed-path', decoded.detail));
    const { request, caller } = decoded;
    const { pathname: path } = new URL(request.url);
    if (caller === undefined && !anonymous && path !== anonymousPath)
      return problemResponse(problem(401, 'unauthorized', 'The request is not authenticated.'));
    const response = await app.fetch(request);
    metrics.emit();
    // Requests that change something are logged; reads are not.
    if (!readingMethods.has(request.method))
      log.info('request', { method: request.method, path, status: response.status, caller });
    return response;
  };

  return async (event: unknown, context: InvocationContext): Promise<HttpAnswer> => {
    log.begin(context);
    return encodeResponse(await answer(event));
  };
}

/**
 * Finds probes that the deployed prober would refuse, for the answers to registrations. The API receives names and
 * hosts, never a secret.
 */
export function deployedAdvise({
  allowCidrs,
  allowLoopback,
  execNames,
  execSsm,
  secretHosts,
}: Pick<Environment, 'allowCidrs' | 'allowLoopback' | 'execNames' | 'execSsm' | 'secretHosts'>): Advise {
  return adviser({
    dialRefusal: dialRefusal(dialPolicy({ mode: 'aws', allowCidrs, allowLoopback }), dialRemedy),
    execRefusal: execRefusal({ lambda: execNames, ssm: execSsm }),
    secretRefusal: awsSecretRefusal(secretHosts),
  });
}

/** The widest policy that `allowCidrs` can configure. */
const widest = dialPolicy({ mode: 'aws', allowCidrs: ['0.0.0.0/0', '::/0'] });

const dialRemedy = (address: string): string =>
  widest(address)
    ? "the deployment's allowCidrs would allow it, with a range that holds it"
    : 'no setting of the deployment allows it, so name another host';

function execRefusal(names: RunnerNames): ExecRefusal {
  const refusal = namedRefusal(names);
  return (command) => {
    const why = refusal(command);
    return why && `${why}; the deployment's execRunner names what runs commands`;
  };
}
