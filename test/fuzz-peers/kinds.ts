/** Every kind of hostile peer. */
import { dnsKinds } from './dns-kinds.ts';
import { grpcKinds } from './grpc-kinds.ts';
import { http1Kinds } from './http1-kinds.ts';
import { http2Kinds, triggerKinds } from './http2-kinds.ts';
import type { Kind } from './kind.ts';
import { redirectKinds } from './redirect-kinds.ts';
import { tlsKinds } from './tls-kinds.ts';

/** Their exchanges end by themselves, so that their cost can be measured. */
export const endingKinds: readonly Kind[] = [
  ...http1Kinds,
  ...redirectKinds,
  ...http2Kinds,
  ...grpcKinds,
  ...tlsKinds,
  ...dnsKinds,
];

export const allKinds: readonly Kind[] = [...endingKinds, ...triggerKinds];
