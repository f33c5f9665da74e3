/** Parses a stream of server-sent events (WHATWG HTML, section 9.2) into its messages. */

/** `id`: of the last message that had one. `data` is empty if the message only carries an id. */
export type StreamMessage = { readonly id: string; readonly type: string; readonly data: string };

export type StreamOptions = {
  /** Of the connection before. */
  readonly lastEventId: string;
  /** Called with each piece that arrives, comments included. */
  readonly heard: () => void;
};

/** The largest event of the API has a few attempts of 10 KiB. */
const messageCharactersMax = 1024 * 1024;

/** Yields messages that have an id or data. Throws if one has more than 1 Mi characters. */
export async function* eventStream(
  body: AsyncIterable<Uint8Array>,
  { lastEventId, heard }: StreamOptions,
): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let id = lastEventId;
  let rest = '';
  for await (const piece of body) {
    heard();
    const blocks = (rest + decoder.decode(piece, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = fieldsOf(block);
      id = fields.get('id') ?? id;
      const data = fields.get('data') ?? '';
      if (data !== '' || fields.has('id')) yield { id, type: fields.get('event') ?? 'message', data };
    }
    if (rest.length > messageCharactersMax) throw new RangeError('an event of the stream is too large');
  }
}

/** The API writes each field on one line. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  return fields;
}
