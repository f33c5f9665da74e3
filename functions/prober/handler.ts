/** The entry point of the prober function. Each invocation handles one message of the shard queue. */
import { setFlagsFromString } from 'node:v8';
import { deployedProber } from './deployed.ts';
import { proberFunction } from './prober.ts';

// For the garbage of probes: docs/operating.md, Memory of one process. NODE_OPTIONS does not take these options.
setFlagsFromString('--no-allocation-site-pretenuring');
setFlagsFromString('--optimize-for-size');

// The watchdog's thread imports this file when the event loop hangs.
export { rememberHang } from '../watchdog/remember.ts';

export const handler = proberFunction(deployedProber(import.meta.url));
