/** What is asked of `probe` in tests of probers: the readiness of one container on loopback. */
export const orderOnLoopback = {
  target: { namespace: 'default', name: 'checkout', uid: 'u1' },
  host: '127.0.0.1',
  container: { name: 'app' },
  probeType: 'readiness',
  containerKind: 'container',
} as const;
