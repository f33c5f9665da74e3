/** The body of an answer, which is never read beyond a limit. */

/** At most one piece more than `bytesMax`, so that the caller sees that there is more. The rest is not read. */
export async function boundedBytes(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(chunks);
}

/** undefined: it has more bytes. */
export async function boundedText(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string | undefined> {
  const bytes = await boundedBytes(body, bytesMax);
  return bytes.length > bytesMax ? undefined : bytes.toString('utf8');
}
