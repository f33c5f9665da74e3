/** The files that are mutated, and the tests that judge them. */
import { globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceOf } from '../support/edited-source.ts';

const projectPath = fileURLToPath(new URL('../../', import.meta.url));

const filesIn = (patterns: readonly string[]): readonly string[] => globSync(patterns, { cwd: projectPath }).sort();

const engineFolders = ['holder', 'schedule', 'status-sync', 'table'];
const sharedFolders = ['core', ...engineFolders, 'store', 'alerts'];

export const mutatedFiles = (): readonly string[] =>
  filesIn([...sharedFolders.map((folder) => `shared/${folder}/**/*.ts`), 'functions/local/**/*.ts']);

/** Each ends in a minute or two by itself. */
export const judgingTests = (): readonly string[] =>
  filesIn([
    'test/core/**/*.test.ts',
    ...engineFolders.map((folder) => `test/${folder}/**/*.{test,long}.ts`),
    'test/{store,local}/**/*.{test,long}.ts',
    'test/{alerts,conformance,api,config}/*.test.ts',
    // Of shared/core/status/rehearsal.ts, and of receivers and commands of functions/local.
    'test/functions/cli/{simulate*,alerts}.test.ts',
    'test/exec/left-running.test.ts',
  ]).filter((path) => !slow.has(path));

const slow: ReadonlySet<string> = new Set(['test/holder/network-cut.long.ts']);

/** Whether the test is meant for the file: it imports it, or holds the core against the recorded vectors. */
export const isMeantFor = (file: string, test: string): boolean =>
  (file.startsWith('shared/core/') && dirname(test) === 'test/conformance') || isImportedBy(file, test);

/** Whether the test stands for the folder of the file. */
export const isOfFolder = (file: string, test: string): boolean =>
  dirname(test) === dirname(file).replace(/^(shared|functions)/, 'test');

function isImportedBy(file: string, test: string): boolean {
  const folder = dirname(test);
  const imported = [...sourceOf(test).matchAll(/from '(\.[^']+)'/g)];
  return imported.some(([, path = '']) => normalize(join(folder, path)) === file);
}
