/** Which way TLS is read in this process, so that the slower one cannot hide behind a ratio. */
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';

/** Connections that OpenSSL reads from the kernel by itself, and those over a stream of the product. */
export type TlsPaths = { readonly byItself: number; readonly forIt: number };

/** Counts from now on what `connect` of node:tls is given. */
export function countedTlsPaths(): TlsPaths {
  const paths = { byItself: 0, forIt: 0 };
  const { connect } = tls;
  const counted = (options: ConnectionOptions) => {
    paths[options.socket instanceof Socket ? 'byItself' : 'forIt'] += 1;
    return connect(options);
  };
  Object.assign(tls, { connect: counted });
  syncBuiltinESMExports();
  return paths;
}
