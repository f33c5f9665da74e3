/** `npm run bench:steady`. */
import { measureSteady } from '../e2e/steady.ts';

process.exitCode = (await measureSteady(console.log)) ? 0 : 1;
