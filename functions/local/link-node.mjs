/**
 * Run behind `npm ci` in a clone: puts the locked Node on the path of npm scripts where npm has not. npm 9 removes the
 * link again with the package of the other architecture, whose program has the same name. Plain JavaScript, because it
 * runs on the Node that npm has.
 */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const program = `node-linux-${process.arch}/bin/node`;
const link = join(modules, '.bin/node');

if (process.platform === 'linux' && existsSync(join(modules, program)) && !existsSync(link))
  symlinkSync(join('..', program), link);
