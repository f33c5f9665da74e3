/**
 * What a simulated process has in place of the machine's file system events, its thread for files and the calls that
 * find them: all of it comes in the world's time, so a seed repeats it.
 */
import type { ConfigurationPorts } from '../../../functions/local/config/configuration.ts';
import { targetsIn } from '../../../functions/local/config/file-targets.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { immediateSearch } from '../../support/immediate-search.ts';
import { forever, type Life } from './life.ts';

/** `unread`: the machine is too busy to read a file, or its disk is. */
export type FileFault = 'unread' | 'slow' | 'well';

export type FileMachine = {
  /** What reads of files meet from now on. */
  fault: FileFault;
  /** Something has changed in the watched folder. */
  changed(): void;
  /** Of one life. */
  ports(life: Life): Required<Pick<ConfigurationPorts, 'openConverter' | 'fileSearch' | 'watchFolder'>>;
};

/** Of events: the system drops some when a queue is full, reports some twice, and a busy process sees some late. */
const lostShare = 0.2;
const doubledShare = 0.2;
const lateShare = 0.2;
const lateMsMax = 20_000;
/** Of one file. A process gives up one that takes two minutes. */
const convertMsMax = 200;
const slowConvertMsMax = 90_000;
/** Of all files of this world. The configuration is read again, as after an edit of alerts, once they have been. */
export const slowReadsMsMax = 2 * slowConvertMsMax;

export function fileMachine({ clock, random }: { readonly clock: Clock; readonly random: Random }): FileMachine {
  const watches = new Set<{ readonly life: Life; readonly onChange: () => void }>();
  const machine: FileMachine = {
    fault: 'well',
    changed() {
      for (const watch of watches) {
        const { life, onChange } = watch;
        if (!life.alive) watches.delete(watch);
        const copies = random.next() < lostShare ? 0 : 1 + Number(random.next() < doubledShare);
        for (let copy = 0; copy < copies; copy += 1) {
          const lateMs = random.next() < lateShare ? random.next() * lateMsMax : 0;
          life.clock.setTimer(lateMs, () => watches.has(watch) && onChange());
        }
      }
    },
    ports: (life) => ({
      fileSearch: immediateSearch,
      watchFolder(_, onChange) {
        const watch = { life, onChange };
        watches.add(watch);
        return { close: () => watches.delete(watch) };
      },
      openConverter: () => ({
        async convert(asked, signal) {
          const { fault } = machine;
          await sleep(clock, random.next() * (fault === 'slow' ? slowConvertMsMax : convertMsMax), signal);
          if (!life.alive) return forever();
          if (fault !== 'unread') return targetsIn(asked);
          const error = { file: asked.name, line: 1, column: 1, detail: 'cannot be read: EIO' };
          return { kind: 'invalid', errors: [error], isUnread: true };
        },
        close: async () => undefined,
      }),
    }),
  };
  return machine;
}
