/** The text of an answer, which is never read beyond a limit. */
import type { Dispatcher } from 'undici';

/** undefined: it has more bytes; the rest is not read. */
export async function answerText(body: Dispatcher.ResponseData['body'], bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}
