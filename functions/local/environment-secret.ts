/** Secrets of probe headers on one machine: variables of the environment, those alone that are meant for it. */
import type { ResolveSecret } from '../../shared/prober/secret-headers.ts';

/** Whoever registers a target chooses where the value goes, so no other variable of the process may be named. */
const namePrefix = 'PROBELET_SECRET_';

export const environmentSecret: ResolveSecret = ({ source, name }) =>
  Promise.resolve(source === 'env' && name.startsWith(namePrefix) ? process.env[name] : undefined);
