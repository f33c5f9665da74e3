/** Secrets of probe headers on one machine: variables of the environment, those alone that are meant for it. */
import type { ResolveSecret } from '../../shared/prober/secret-headers.ts';

/** Whoever registers a target chooses where the value goes, so no other variable of the process may be named. */
const namePrefix = 'PROBELET_SECRET_';

export const environmentSecret: ResolveSecret = async ({ source, name }) => {
  if (source !== 'env') return { kind: 'none', why: 'npm start resolves env: alone' };
  if (!name.startsWith(namePrefix)) return { kind: 'none', why: `its name has to begin with ${namePrefix}` };
  const value = process.env[name];
  return value === undefined ? { kind: 'none', why: 'there is no such variable' } : { kind: 'value', value };
};
