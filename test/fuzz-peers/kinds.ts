/** Every kind of hostile peer. */
import { grpcKinds } from './grpc-kinds.ts';
import { http1Kinds } from './http1-kinds.ts';
import { http2Kinds, triggerKinds } from './http2-kinds.ts';
import type { Kind } from './kind.ts';
import { redirectKinds } from './redirect-kinds.ts';

/** Their exchanges end by themselves, so that their cost can be measured. */
export const endingKinds: readonly Kind[] = [...http1Kinds, ...redirectKinds, ...http2Kinds, ...grpcKinds];

export const allKinds: readonly Kind[] = [...endingKinds, ...triggerKinds];
