/** The one place that knows which prober serves which kind of request. */
import type { Attempt } from '../core/types.ts';
import type { ExecRequest, GrpcRequest, HttpRequest, ProbeRequest, Prober, TcpRequest } from './prober.ts';

export type Probers = {
  readonly http: Prober<HttpRequest>;
  readonly tcp: Prober<TcpRequest>;
  readonly grpc: Prober<GrpcRequest>;
  readonly exec: Prober<ExecRequest>;
};

export function probers({ http, tcp, grpc, exec }: Probers): Prober {
  return (request: ProbeRequest): Promise<Attempt> => {
    switch (request.kind) {
      case 'http':
        return http(request);
      case 'tcp':
        return tcp(request);
      case 'grpc':
        return grpc(request);
      case 'exec':
        return exec(request);
    }
  };
}
