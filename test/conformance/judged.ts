/**
 * What a judge outside the project calls: one that gives kubelet's own probers and Kubernetes' own validation, and
 * these functions, the same random input, and compares what they make of it. The judge imports this file alone, so what
 * is named here may move, but keeps its name and its meaning.
 */
export { decodeManifest } from '../../shared/api/schema/decode-manifest.ts';
export { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
export { localRunner } from '../../shared/exec/local.ts';
export { systemClock } from '../../shared/lib/clock.ts';
export { guardedDialer } from '../../shared/net/dialer.ts';
export { dialPolicy } from '../../shared/net/policy.ts';
export { resolver } from '../../shared/net/resolver.ts';
export { execProber } from '../../shared/prober/exec.ts';
export { grpcProber } from '../../shared/prober/grpc/grpc.ts';
export { httpProber } from '../../shared/prober/http/http.ts';
export { tcpProber } from '../../shared/prober/tcp.ts';
