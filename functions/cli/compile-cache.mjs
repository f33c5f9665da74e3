/**
 * What Node has compiled is kept, which halves the time of a call. Node's own default is in the temporary folder, where
 * other users of the machine could plant code. Plain JavaScript, and loaded before the program: what comes earlier is
 * compiled in each call, and for one file of TypeScript Node loads its compiler.
 */
import module from 'node:module';
import { join } from 'node:path';

const { XDG_CACHE_HOME = '', HOME = '' } = process.env;
const caches = XDG_CACHE_HOME === '' && HOME !== '' ? join(HOME, '.cache') : XDG_CACHE_HOME;
if (caches !== '') module.enableCompileCache(join(caches, 'probelet'));
