/** The request of a health check, as grpc-go sends it. */
import { encodeTimeout } from './codec.ts';

const checkPath = '/grpc.health.v1.Health/Check';

export type Call = {
  readonly authority: string;
  readonly service: string;
  readonly userAgent: string;
  readonly deadlineMs: number;
};

/** The header fields, with the time that is left. */
export const requestFields = ({ authority, userAgent }: Call, remainingMs: number) =>
  [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', checkPath],
    [':authority', authority],
    ['content-type', 'application/grpc'],
    ['user-agent', userAgent],
    ['te', 'trailers'],
    // kubelet links a compressor, so grpc-go offers it.
    ['grpc-accept-encoding', 'gzip'],
    ['grpc-timeout', encodeTimeout(remainingMs)],
  ] as const;
