/**
 * A process whose event loop hangs while it works for a probe: `node hanging-function.ts MODULE TABLE NAME`. Its
 * watchdog remembers that by the module, a function's bundle.
 */
import { startWatchdog } from '../../functions/watchdog/watchdog.ts';
import { recordingLog } from '../support/recording-log.ts';

const [module = '', table = '', name = ''] = process.argv.slice(2);
const line = { fields: { level: 'FATAL' }, message: 'message', time: 'timestamp' };
const remember = { module, config: { table } };
const { attribution } = startWatchdog({ log: recordingLog(), line, remember, hangMs: 500 });

attribution.start(name);
for (;;);
