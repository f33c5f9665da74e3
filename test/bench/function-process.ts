/** In a child: a bundled function, as Lambda's runtime loads and calls it. */
const { handler } = await import(String(process.argv[2]));

process.on('message', async ({ event, forMs }: { readonly event: unknown; readonly forMs: number }) => {
  const endsAtMs = performance.now() + forMs;
  const getRemainingTimeInMillis = () => endsAtMs - performance.now();
  process.send?.(await handler(event, { awsRequestId: 'function-memory', getRemainingTimeInMillis }));
});
process.send?.('ready');
