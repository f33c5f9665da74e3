/** The documents of the npm package: those for users. One of them is its README, read from the root of the package. */
import { posix } from 'node:path';

/** Makes the document's relative links right for the root, where its folder is `docs`. */
export const packageReadme = (document: string): string =>
  document.replaceAll(/\]\((?![a-z]+:|#)([^)]+)\)/g, (_, link: string) => `](${posix.join('docs', link)})`);

/** In `docs`: decision records, and pages for those who change probelet. */
const forDevelopers = '(?:adr(?:[/\\\\]|$)|(?:maintaining|testing|commands|reading-tour)\\.md)';
const inDocs = new RegExp(`[/\\\\]docs[/\\\\]${forDevelopers}`);

export const isForUsers = (path: string): boolean => !inDocs.test(path);

const othersLink = new RegExp(
  `\\[([^\\]]*)\\]\\((?:docs/|(?:\\.\\./)*)(?:${forDevelopers}|CONTRIBUTING\\.md)[^)]*\\)`,
  'g',
);

/** With the text of links to documents that are not in the package in place of the links. */
export const withoutOthersLinks = (document: string): string => document.replaceAll(othersLink, '$1');
