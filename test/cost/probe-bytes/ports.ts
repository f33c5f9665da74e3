/** Where the far servers listen. */
export const farPorts = { http: 8_080, https: 8_443, tcp: 8_081, grpc: 8_082 } as const;
