/** The handler `tcpSocket`. */
import { addressHost, addressProblems, resolvePort } from './handler-address.ts';
import { handlerRow, resolved } from './handler-row.ts';

export type TcpRequest = {
  readonly kind: 'tcp';
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
};

export const tcpSocket = handlerRow({
  shape: { port: { kind: 'portRef' }, host: { kind: 'text' } },
  problems: addressProblems,
  request(handler, { host, container }, timeoutMs) {
    const port = resolvePort(handler.port, container.ports);
    if (port.kind === 'error') return port;
    return resolved<TcpRequest>({ kind: 'tcp', host: addressHost(handler, host), port: port.value, timeoutMs });
  },
  cost: () => 'tcp',
  descriptors: 1,
  hostOf: addressHost,
});
