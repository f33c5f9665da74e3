/** How far work is that takes longer than a second. */
import type { Io } from '../io.ts';

export type Progress = {
  /** At most ten times a second. */
  readonly show: (text: string) => void;
  readonly end: () => void;
};

const firstMs = 1_000;
const pauseMs = 100;

export function progressOf({ clock, progress }: Pick<Io, 'clock' | 'progress'>): Progress {
  let nextMs = clock.monotonicMs() + firstMs;
  let isShown = false;
  return {
    show(text) {
      const nowMs = clock.monotonicMs();
      if (nowMs < nextMs) return;
      nextMs = nowMs + pauseMs;
      isShown = true;
      progress(text);
    },
    end() {
      if (isShown) progress('');
      isShown = false;
    },
  };
}
