/** Which way TLS is begun and read in this process, so that the slower one cannot hide behind a ratio. */
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';

export type TlsPaths = {
  /** Connections that OpenSSL reads from the kernel by itself. */
  readonly byItself: number;
  /** Those over a stream of the product. */
  readonly forIt: number;
  /** Those of both that resumed a session, in place of a full handshake. */
  readonly resumed: number;
};

/** Counts from now on what `connect` of node:tls is given. */
export function countedTlsPaths(): TlsPaths {
  const paths = { byItself: 0, forIt: 0, resumed: 0 };
  const { connect } = tls;
  const counted = (options: ConnectionOptions) => {
    paths[options.socket instanceof Socket ? 'byItself' : 'forIt'] += 1;
    const secured = connect(options);
    if (options.session)
      secured.once('secureConnect', () => {
        if (secured.isSessionReused()) paths.resumed += 1;
      });
    return secured;
  };
  Object.assign(tls, { connect: counted });
  syncBuiltinESMExports();
  return paths;
}
