/** What a run asks of the exec prober. */
export const execRequest = (command: readonly string[], timeoutMs: number) => {
  const target = { namespace: 'default', name: 'checkout', uid: 'u' };
  return { kind: 'exec', command, target, container: 'main', timeoutMs } as const;
};
