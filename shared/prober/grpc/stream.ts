/** The stream of one unary call: what the server has sent, until that decides the call. Pure. */
import type { Block } from '../../http2/header-block.ts';
import type { Field } from '../../http2/hpack-table.ts';
import type { Data } from '../../http2/inbound.ts';
import { receiveWindow } from '../../http2/receive-window.ts';
import { type GrpcFields, noFields, readBlock, withField } from './headers.ts';
import { ReplyReader, type RpcResult, type StreamEnd } from './reply.ts';
import { noTrailers, type RpcStatus, rpcCode, rpcStatus } from './status.ts';

/** Before the server has said anything else: what grpc-go grants to a stream. */
const windowBytes = 65_535;
/** A smaller grant can wait: the server has enough of its window left. */
const grantBytesMin = windowBytes / 4;

/** Each function that returns a result returns undefined while the call is undecided. */
export type CallStream = {
  /** A field of the header block that is arriving. */
  readonly field: (field: Field) => void;
  readonly headers: (block: Block) => RpcResult | undefined;
  readonly data: (data: ReceivedData) => RpcResult | undefined;
  /**
   * How many bytes to grant to the server for what has arrived. To be called once everything that is here has been
   * taken: a server that sends more than its window without waiting must not find a wider one.
   */
  readonly grant: () => number;
  /** Whether there may be bytes to grant. */
  readonly isGrantDue: () => boolean;
  /** Something other than the server's END_STREAM ends the stream. */
  readonly fail: (status: RpcStatus) => RpcResult;
};

export type ReceivedData = Pick<Data, 'data' | 'payloadBytes' | 'endStream'>;

export function callStream(): CallStream {
  const reply = new ReplyReader();
  const window = receiveWindow(windowBytes);
  let fields: GrpcFields = noFields;
  /** From the headers; undefined: they have not arrived. */
  let encoding: string | undefined;
  let unreadBytes = 0;
  let begunBytes = 0;

  const decide = (end?: StreamEnd) => reply.decide(encoding ?? '', end);
  const fail = (status: RpcStatus): RpcResult => decide({ status, isEndOfFile: false }) ?? status;
  return {
    field: (field) => {
      fields = withField(fields, field);
    },
    headers: (block) => {
      const meaning = readBlock(block, fields, encoding === undefined);
      fields = noFields;
      switch (meaning.kind) {
        case 'headers':
          encoding = meaning.encoding;
          return decide();
        case 'trailers':
          return decide({ status: meaning.status, isEndOfFile: true });
        case 'refused':
          return fail(meaning.status);
        case 'nothing':
          return undefined;
      }
    },
    data: ({ data, payloadBytes, endStream }) => {
      if (!window.arrived(payloadBytes)) return fail(rpcStatus(rpcCode.internal, tooMuch));
      unreadBytes += payloadBytes;
      begunBytes += reply.take(data);
      // grpc-go hands messages over once the headers have come.
      if (endStream) return decide({ status: noTrailers, isEndOfFile: true });
      return encoding === undefined ? undefined : decide();
    },
    isGrantDue: () => Math.max(unreadBytes, begunBytes) >= grantBytesMin,
    grant: () => {
      const bytes = window.read(unreadBytes) + (begunBytes > 0 ? window.expect(begunBytes) : 0);
      unreadBytes = 0;
      begunBytes = 0;
      return bytes;
    },
    fail,
  };
}

const tooMuch = `received more data than the limit of ${windowBytes} bytes`;
