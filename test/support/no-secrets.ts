/** The secrets of a prober that has none. */
import type { Secrets } from '../../shared/secrets/secrets.ts';

export const noSecrets: Secrets = {
  refusal: () => 'there are none',
  resolve: async () => ({ kind: 'none', why: 'there are none' }),
};
