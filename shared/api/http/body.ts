/** The body of a request: read up to a limit, decoded by its media type. */
import type { Clock } from '../../lib/clock.ts';
import { gathered } from '../../lib/gathered.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { pacer, sliceMs } from '../../lib/slices.ts';
import { type ParsedDocuments, parseJson, parseLargeJson } from './json.ts';
import { brokenOff, type Checked, ok, type Problem, problem } from './problem.ts';

export const requestBodyBytesMax = 64 * 1024;
/** The largest JSON body of a route that takes many targets. */
export const largeBytesMax = 1024 * 1024;
/** Values in a body of that size. */
const largeValuesMax = 150_000;

/** Media types that a route accepts, each with its syntax. */
export type MediaTypes = Readonly<Record<string, 'json' | 'yaml'>>;

export const manifestMediaTypes: MediaTypes = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
};

export const mergePatchMediaTypes: MediaTypes = {
  'application/merge-patch+json': 'json',
  'application/merge-patch+yaml': 'yaml',
};

/** What reading a body shares with the process around the API. */
export type BodyDeps = {
  readonly clock: Clock;
  /**
   * Awaited before each slow piece of a request. Resolves when the request may continue; rejects if the client has
   * gone. Absent: nothing else needs the thread.
   */
  readonly pause?: () => Promise<void>;
  /** Awaited before the body of a request takes memory. Its place is free once the request is answered. */
  readonly admit?: (request: Request) => Promise<void>;
  /** Parses YAML beside this thread. Absent: in it. */
  readonly parseYaml?: ParseYaml;
};

/** Never rejects. When the signal is aborted, the answer no longer matters. */
export type ParseYaml = (text: string, signal: AbortSignal) => ParsedDocuments | Promise<ParsedDocuments>;

export type BodyOptions = {
  readonly deps: BodyDeps;
  /** Whether it may have `largeBytesMax`, as JSON only: YAML takes a hundred times as long to parse. */
  readonly isLarge?: boolean;
  /** The advice for a client that sends several documents, if there is any. */
  readonly several?: string;
};

/**
 * The one document of the body, null for an empty body. 415 for a media type that is not in the list, 413 beyond the
 * limit, 400 for a body that cannot be parsed.
 */
export async function readBody(
  request: Request,
  mediaTypes: MediaTypes,
  options: BodyOptions,
): Promise<Checked<unknown>> {
  const documents = await readDocuments(request, mediaTypes, options);
  if (documents.kind === 'problem') return documents;
  const [document = null, ...others] = documents.value;
  const detail = `more than one document${options.several === undefined ? '' : `: ${options.several}`}`;
  return others.length === 0 ? ok(document) : problem(400, 'malformed-body', detail);
}

/** All documents of the body: one of JSON, any number of YAML. Problems as for `readBody`. */
export async function readDocuments(
  request: Request,
  mediaTypes: MediaTypes,
  { deps, isLarge = false }: BodyOptions,
): Promise<Checked<readonly unknown[]>> {
  const syntax = ownProperty(mediaTypes, mediaTypeOf(request));
  if (!syntax) return unsupported(request, mediaTypes);
  const text = await readText(request, syntax === 'json' && isLarge ? largeBytesMax : requestBodyBytesMax);
  if (text.kind === 'problem') return text;
  const parsed =
    syntax === 'json'
      ? await parsedJson(text.value, request, deps, isLarge)
      : await parsedYaml(text.value, request, deps);
  // Whatever follows is another piece of work.
  await deps.pause?.();
  return parsed.kind === 'parsed' ? ok(parsed.documents) : problem(400, 'malformed-body', parsed.reason);
}

/**
 * The body as it arrives, for a route that reads it piece by piece and bounds it itself; null: there is none. 415 for a
 * media type that is not in the list, 413 if the length header is beyond the limit.
 */
export function streamedBody(request: Request, mediaTypes: MediaTypes, bytesMax: number): Checked<Request['body']> {
  if (!ownProperty(mediaTypes, mediaTypeOf(request))) return unsupported(request, mediaTypes);
  return lengthProblem(request, bytesMax) ?? ok(request.body);
}

async function parsedJson(text: string, request: Request, deps: BodyDeps, isLarge: boolean): Promise<ParsedDocuments> {
  await deps.admit?.(request);
  if (!isLarge) return parseJson(text);
  return parseLargeJson(text, largeValuesMax, deps.pause ?? pacer(deps.clock, sliceMs));
}

/** Loaded on demand: a function's cold start does not wait for a parser that few requests need. */
async function parsedYaml(text: string, request: Request, deps: BodyDeps): Promise<ParsedDocuments> {
  const parse: ParseYaml = deps.parseYaml ?? (await import('./yaml.ts')).parseYaml;
  const parsed = await parse(text, request.signal);
  // Admitted only now: texts are parsed one after the other, and those that wait must not keep JSON bodies waiting.
  await deps.admit?.(request);
  return parsed;
}

/** As `readBody`, but a request without a body counts as an empty object. */
export async function readOptionalBody(
  request: Request,
  mediaTypes: MediaTypes,
  options: BodyOptions,
): Promise<Checked<unknown>> {
  if (request.headers.has('content-type'))
    return hasNoLength(request) ? ok({}) : readBody(request, mediaTypes, options);
  // Node's server gives every POST a stream, so only reading it shows whether there is a body.
  const text = await readText(request, requestBodyBytesMax);
  if (text.kind === 'problem') return text;
  return text.value === '' ? ok({}) : unsupported(request, mediaTypes);
}

const hasNoLength = (request: Request): boolean =>
  request.body === null || request.headers.get('content-length') === '0';

const contentType = /^\s*([^;\s]+)\s*(?:;\s*charset\s*=\s*"?([^;"\s]+)"?\s*)?$/i;

/** Lower case; empty for a missing or odd header, a charset other than UTF-8, or an encoded body. */
function mediaTypeOf(request: Request): string {
  const [, mediaType = '', charset = 'utf-8'] = contentType.exec(request.headers.get('content-type') ?? '') ?? [];
  const isEncoded = (request.headers.get('content-encoding') ?? 'identity') !== 'identity';
  return isEncoded || charset.toLowerCase() !== 'utf-8' ? '' : mediaType.toLowerCase();
}

function unsupported(request: Request, mediaTypes: MediaTypes): Problem {
  const accepted = Object.keys(mediaTypes).join(', ');
  const header = request.method === 'PATCH' ? 'accept-patch' : 'accept';
  const detail = `The body has to be one of ${accepted}, in UTF-8 and not compressed.${curlHint(request, mediaTypes)}`;
  return { ...problem(415, 'unsupported-media-type', detail), headers: { [header]: accepted } };
}

/** curl sends this type with a body unless another is given. */
function curlHint(request: Request, mediaTypes: MediaTypes): string {
  if (mediaTypeOf(request) !== 'application/x-www-form-urlencoded') return '';
  const yaml = Object.keys(mediaTypes).find((mediaType) => mediaTypes[mediaType] === 'yaml');
  return ` For a file in YAML: curl -H 'content-type: ${yaml}' --data-binary @file`;
}

export const tooLarge = (bytesMax: number, what = 'body'): Problem =>
  problem(413, 'body-too-large', `The ${what} is larger than ${bytesMax} bytes.`);

const lengthProblem = (request: Request, bytesMax: number): Problem | undefined =>
  Number(request.headers.get('content-length')) > bytesMax ? tooLarge(bytesMax) : undefined;

async function readText(request: Request, bytesMax: number): Promise<Checked<string>> {
  const long = lengthProblem(request, bytesMax);
  if (long) return long;
  const bytes = await readBytes(request, bytesMax);
  return bytes.kind === 'problem' ? bytes : decodedText(bytes.value, 'body');
}

/** A 400 unless the bytes are UTF-8. */
export function decodedText(bytes: Uint8Array, what: 'body' | 'line'): Checked<string> {
  try {
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return problem(400, 'malformed-body', `The ${what} is not UTF-8.`);
  }
}

/** Stops reading at the limit, regardless of the length header. */
async function readBytes(request: Request, bytesMax: number): Promise<Checked<Uint8Array>> {
  if (!request.body) return ok(new Uint8Array());
  // Chunks may have a byte each, so none of them is kept.
  const bytes = gathered(bytesMax);
  try {
    for await (const chunk of request.body) if (bytes.add(chunk) < chunk.byteLength) return tooLarge(bytesMax);
  } catch {
    return brokenOff;
  }
  return ok(bytes.bytes());
}
