/** The version of the product, from the `package.json` of the clone or of the npm package. */
import { readFileSync } from 'node:fs';

export const productVersion: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
