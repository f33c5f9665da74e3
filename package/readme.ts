/** The README of the npm package: a document of `docs`, read from the root of the package. */
import { posix } from 'node:path';

/** Makes the document's relative links right for the root, where its folder is `docs`. */
export const packageReadme = (document: string): string =>
  document.replaceAll(/\]\((?![a-z]+:|#)([^)]+)\)/g, (_, link: string) => `](${posix.join('docs', link)})`);
