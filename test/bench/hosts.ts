/**
 * Targets have addresses of their own, as real ones: closed connections to one address would use up its local ports.
 * `hostOf` in peers/load.go is the same.
 */
export const hosts = 200;

export const hostOf = (at: number): string => `127.0.0.${(at % hosts) + 1}`;
