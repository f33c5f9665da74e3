/** Fetches a file by http or https, without credentials and up to the size of a file. */
import { type Dispatcher, request } from 'undici';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { fileBytesMax } from '../../../shared/manifest/limits.ts';
import { boundedBytes, connectionsTo } from '../../client/connections.ts';
import type { Io } from '../io.ts';
import { decodedText, type ReadText } from './sources.ts';

export type FetchOptions = { readonly timeoutMs: number; readonly env: Io['env'] };

/** Redirections that are followed, one after the other. */
const redirectionsMax = 5;
const redirections: readonly number[] = [301, 302, 303, 307, 308];

/** Never throws. */
export async function fetchedText(first: URL, { timeoutMs, env }: FetchOptions): Promise<ReadText> {
  const over = AbortSignal.timeout(timeoutMs);
  let url = first;
  for (let hops = 0; hops <= redirectionsMax; hops += 1) {
    const connections = connectionsTo({ url, timeoutMs, env });
    try {
      const { statusCode, headers, body } = await request(url, {
        dispatcher: connections,
        headers: { accept: 'application/yaml, application/json, text/plain, */*;q=0.5' },
        signal: over,
        // The signal is the only time-out.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      if (!redirections.includes(statusCode)) return await bodyText(statusCode, body);
      const next = redirection(url, headers.location?.toString());
      if (!next) return failed('is redirected to what is no http or https URL, or from https to http');
      url = next;
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return failed(isLate ? `did not arrive within ${timeoutMs / 1_000} s` : `cannot be fetched (${codeOf(error)})`);
    } finally {
      await connections.destroy();
    }
  }
  return failed(`is redirected more than ${redirectionsMax} times`);
}

const failed = (detail: string): ReadText => ({ kind: 'failed', detail });

/** A redirection away from https would let the network choose what is applied. */
function redirection(from: URL, location: string | undefined): URL | undefined {
  const to = URL.parse(location ?? '', from.href);
  const isFetched = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:');
  return location !== undefined && to && isFetched ? to : undefined;
}

async function bodyText(status: number, body: Dispatcher.ResponseData['body']): Promise<ReadText> {
  if (status !== 200) return failed(`cannot be fetched (status ${status})`);
  return decodedText(await boundedBytes(body, fileBytesMax));
}
