/** Finds files without a wait outside of virtual time. */
import { globSync, statSync } from 'node:fs';
import type { FileSearch } from '../../functions/local/config/config-sources.ts';

export const immediateSearch: FileSearch = {
  stat: async (path) => statSync(path, { bigint: true }),
  async *glob(pattern, folder) {
    yield* globSync(pattern, { cwd: folder, withFileTypes: true });
  },
};
