/** The documents of the npm package: those for users. One of them is its README, read from the root of the package. */
import { posix } from 'node:path';

/** Makes the document's relative links right for the root, where its folder is `docs`. */
export const packageReadme = (document: string): string =>
  document.replaceAll(/\]\((?![a-z]+:|#)([^)]+)\)/g, (_, link: string) => `](${posix.join('docs', link)})`);

/** Decision records, and how to maintain the repository, are for those who change probelet. */
export const isForUsers = (path: string): boolean => !/[/\\]docs[/\\](adr([/\\]|$)|maintaining\.md$)/.test(path);

/** With the text of links to documents that are not in the package in place of the links. */
export const withoutOthersLinks = (document: string): string =>
  document.replaceAll(/\[([^\]]*)\]\((?:docs\/|\.\.\/)?(?:adr\/|maintaining\.md|CONTRIBUTING\.md)[^)]*\)/g, '$1');
