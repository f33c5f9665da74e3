/** The files that are mutated, and the tests that judge them. */
import { globSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceOf } from '../support/edited-source.ts';

const projectPath = fileURLToPath(new URL('../../', import.meta.url));

const filesIn = (patterns: readonly string[]): readonly string[] => globSync(patterns, { cwd: projectPath }).sort();

const engineFolders = ['run', 'run/probing', 'run/commit', 'run/self-check', 'schedule', 'status-sync', 'table'];

export const mutatedFiles = (): readonly string[] =>
  filesIn(['core', ...engineFolders].map((engineFolder) => `shared/${engineFolder}/*.ts`));

/**
 * Unit tests in virtual time and the recorded vectors; what opens sockets or starts processes is too slow to judge
 * hundreds.
 */
export const judgingTests = (): readonly string[] =>
  filesIn([
    'test/core/*.test.ts',
    ...engineFolders.map((engineFolder) => `test/${engineFolder}/*.{test,long}.ts`),
    'test/conformance/*.test.ts',
    'test/api/{delete,freshness,probe,register,status-report}.test.ts',
    'test/local/metrics.test.ts',
  ]).filter((path) => !slow.has(path));

const slow: ReadonlySet<string> = new Set(['test/run/network-cut.long.ts']);

/** Whether the test is meant for the file: it imports it, or holds the core against the recorded vectors. */
export const isMeantFor = (file: string, test: string): boolean =>
  (dirname(file) === 'shared/core' && dirname(test) === 'test/conformance') || isImportedBy(file, test);

function isImportedBy(file: string, test: string): boolean {
  const folder = dirname(test);
  const imported = [...sourceOf(test).matchAll(/from '(\.[^']+)'/g)];
  return imported.some(([, path = '']) => normalize(join(folder, path)) === file);
}
