/**
 * The answers to scrapes of `/metrics`: the text is made and sent as fast as the client takes it, compressed if the
 * client accepts that, and no further than the client stays.
 */
import { pipeline } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import { everywhere, problem, problemResponse } from '../../../shared/api/http/problem.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { type FamilyText, slicesOf } from './exposition.ts';

export type ScrapePorts = {
  /** Called for a scrape once its client reads, if there is no other one whose readings it can share. */
  readonly families: () => Promise<readonly FamilyText[]>;
  readonly clock: Clock;
  /** To be awaited before each piece of an answer is made. If absent, each takes a turn of its own. */
  readonly pause?: (() => Promise<void>) | undefined;
};

/** Simultaneous scrapes: each keeps what was read of the targets. */
const scrapesMax = 8;
/**
 * A scrape that begins so soon after another one that is still being answered shares its readings: clients that scrape
 * all the time leave V8 no more of them to collect than one does.
 */
const sharedMs = 1_000;
/** A client that has not taken everything by then is disconnected. Prometheus gives up after 10 s by default. */
const scrapeMsMax = 60_000;
const gzipChunkBytes = 64 * 1024;

const mediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns what answers a request for `/metrics`: 503 if too many are being answered. */
export function scrapes({ families, clock, pause = nextTurn }: ScrapePorts): (request: Request) => Response {
  let underWay = 0;
  const readings = new SharedReadings({ families, clock });
  return (request) => {
    const isGzip = acceptsGzip(request.headers.get('accept-encoding') ?? '');
    const headers = {
      'content-type': mediaType,
      vary: 'accept-encoding',
      ...(isGzip && { 'content-encoding': 'gzip' }),
      ...everywhere,
    };
    if (request.method === 'HEAD') return new Response(null, { headers });
    if (underWay >= scrapesMax)
      return problemResponse(problem(503, 'too-many-scrapes', `${scrapesMax} scrapes are being answered already.`));
    underWay += 1;
    const onEnd = () => {
      underWay -= 1;
    };
    const text = textOf(readings, pause);
    return new Response(streamOf(isGzip ? gzipped(text) : encoded(text), { clock, onEnd }), { headers });
  };
}

/** RFC 9110, section 12.5.3: a coding without weight is accepted, one of weight 0 is not. */
function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
    return coding === 'gzip' && Number(weight ?? 1) > 0;
  });
}

type Readings = {
  readonly families: Promise<readonly FamilyText[]>;
  readonly readAtMs: number;
  scrapes: number;
};

/** Gives a scrape its readings, which it leaves when it ends; nothing is kept for those to come. */
class SharedReadings {
  readonly #ports: Pick<ScrapePorts, 'families' | 'clock'>;
  #latest: Readings | undefined;

  constructor(ports: Pick<ScrapePorts, 'families' | 'clock'>) {
    this.#ports = ports;
  }

  join(): Readings {
    const { families, clock } = this.#ports;
    const nowMs = clock.monotonicMs();
    if (this.#latest === undefined || nowMs - this.#latest.readAtMs >= sharedMs)
      this.#latest = { families: families(), readAtMs: nowMs, scrapes: 0 };
    this.#latest.scrapes += 1;
    return this.#latest;
  }

  leave(readings: Readings): void {
    readings.scrapes -= 1;
    if (readings.scrapes === 0 && readings === this.#latest) this.#latest = undefined;
  }
}

async function* textOf(shared: SharedReadings, pause: () => Promise<void>): AsyncGenerator<string, undefined> {
  const readings = shared.join();
  try {
    const families = await readings.families;
    await pause();
    for (const slice of slicesOf(families)) {
      yield slice;
      await pause();
    }
  } finally {
    shared.leave(readings);
  }
}

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array, undefined> {
  for await (const slice of text) yield Buffer.from(slice);
}

/** Compresses outside the event loop's thread. The fastest level makes it a twentieth already. */
async function* gzipped(text: AsyncIterable<string>): AsyncGenerator<Uint8Array, undefined> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: gzipChunkBytes });
  // An error ends the loop below too, and the end of the loop ends the text.
  pipeline(text, gzip, () => undefined);
  for await (const chunk of gzip) yield chunk as Uint8Array;
}

type Streamed = { readonly clock: Clock; readonly onEnd: () => void };

/** Asks for a chunk when the client has taken the one before. `onEnd` is called once, however it ends. */
function streamOf(chunks: AsyncGenerator<Uint8Array, undefined>, { clock, onEnd }: Streamed): ReadableStream {
  let isOpen = true;
  let cancelTimeout = () => {};
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    cancelTimeout();
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        cancelTimeout = clock.setTimer(scrapeMsMax, () => {
          end();
          controller.error(new Error('the client has not taken the metrics in time'));
          void chunks.return(undefined);
        });
      },
      pull: async (controller) => {
        const { done, value } = await chunks.next().catch((error: unknown) => {
          end();
          throw error;
        });
        if (!isOpen) return;
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      },
      cancel: async () => {
        end();
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
