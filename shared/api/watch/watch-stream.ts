/** The stream of one watching client: reads the log from its position on, as fast as the client takes it. */
import type { Clock } from '../../lib/clock.ts';
import type { LoggedEvent, WatchLog } from './watch-log.ts';

export type Watch = {
  readonly log: WatchLog;
  readonly clock: Clock;
  /** Position in the log at which it begins. */
  readonly place: number;
  readonly wants: (event: LoggedEvent) => boolean;
  readonly timeoutMs: number;
  readonly onEnd: () => void;
};

/** Events queued for one client, in bytes; the rest waits in the log. */
const queuedBytesMax = 16 * 1024;
const keepAliveMs = 15_000;
/** How long an EventSource waits before it reconnects. */
const retryMs = 1_000;

/** `close` ends it before its time. */
export type OpenStream = { readonly stream: ReadableStream<Uint8Array>; readonly close: () => void };

/** Ends when its time is over, or when the client is so slow that the log no longer keeps the next event. */
export function watchStream(watch: Watch): OpenStream {
  let [pump, end, close] = [() => {}, () => {}, () => {}];
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        ({ pump, end, close } = pumping(watch, controller));
      },
      pull: () => pump(),
      cancel: () => end(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: queuedBytesMax }),
  );
  return { stream, close: () => close() };
}

function pumping(
  { log, clock, wants, timeoutMs, onEnd, ...watch }: Watch,
  controller: ReadableStreamDefaultController<Uint8Array>,
) {
  const encoder = new TextEncoder();
  let { place } = watch;
  let isOpen = true;
  const send = (text: string) => controller.enqueue(encoder.encode(text));
  const hasRoom = () => isOpen && (controller.desiredSize ?? 0) > 0;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    for (const cancel of [leave, cancelTimeout, cancelKeepAlive]) cancel();
    onEnd();
  };
  const close = () => {
    if (!isOpen) return;
    end();
    controller.close();
  };
  const pump = () => {
    while (hasRoom()) {
      const next = log.at(place);
      if (next === undefined) return;
      if (next === 'evicted') return close();
      place += 1;
      if (wants(next)) send(eventText(next));
    }
    if (log.at(place) === 'evicted') close();
  };
  // The id also advances past events that the client does not want, so that it need not read them again after a
  // reconnection.
  const keepAlive = () => {
    cancelKeepAlive = clock.setTimer(keepAliveMs, keepAlive);
    if (hasRoom()) send(`:\nid: ${log.idBefore(place)}\n\n`);
  };
  let cancelKeepAlive = clock.setTimer(keepAliveMs, keepAlive);
  const cancelTimeout = clock.setTimer(timeoutMs, close);
  const leave = log.onArrival(pump);
  send(`retry: ${retryMs}\nid: ${log.idBefore(place)}\n\n`);
  pump();
  return { pump, end, close };
}

const eventText = ({ id, type, data }: LoggedEvent): string => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
