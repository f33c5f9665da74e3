/** An HTTP probe of a URL on this machine. */
import type { Attempt } from '../../shared/core/spec/types.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { loopbackDial } from './loopback-dial.ts';

export const probeUrl = (url: string, dial = loopbackDial): Promise<Attempt> =>
  httpProber({ dial, clock })({ kind: 'http', url, headers: [], hostOverride: '', timeoutMs: 60_000 });
