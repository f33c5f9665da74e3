/**
 * Place on the disk that is taken before it is needed, so that a full disk takes the alerts, too: without it a
 * notification would be sent that no later process knows of, and none could end it.
 *
 * It is one file of a fixed size, written where it is. It has two halves that are written in turn, so a power loss
 * during a write leaves the one before.
 */
import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { absent } from '../../../shared/lib/error-code.ts';
import { syncFolder, writeSynced } from '../process/durable-file.ts';

/** Of one half: the alerts of some hundreds of targets that are down at once. */
const reserveBytes = 524_288;
const halves = 2;

export type AlertReserve = {
  /** Takes the place, unless it is taken. @throws an error of the disk */
  prepare(): Promise<void>;
  /** What was written since the file of alerts was last replaced; undefined: nothing. @throws if it cannot be read */
  read(): Promise<string | undefined>;
  /** Durable, as a whole or not at all. @throws if it is too long, or the disk does not take even this */
  write(pieces: Iterable<string>): Promise<void>;
};

/** The first line of a half: what is behind it. */
type Heading = {
  /** The file of alerts that this is newer than. */
  readonly after: string;
  /** Counts the writes. */
  readonly sequence: number;
  readonly bytes: number;
  readonly sha256: string;
};
type Written = Heading & { readonly text: string };

/** `path`: of the reserve. `alertsPath`: of the file of alerts. */
export function alertReserve(path: string, alertsPath: string): AlertReserve {
  let sequence: number | undefined;
  const isTaken = async () => (await statOf(path))?.size === BigInt(halves * reserveBytes);
  const newest = async (): Promise<Written | undefined> =>
    (await isTaken()) ? newestOf(await readFile(path)) : undefined;
  return {
    async prepare() {
      if (await isTaken()) return;
      await writeAt(path, 'w', Buffer.alloc(halves * reserveBytes), 0);
      await syncFolder(dirname(path));
    },
    async read() {
      const found = await newest();
      sequence = found?.sequence ?? 0;
      return found?.after === (await versionOf(alertsPath)) ? found.text : undefined;
    },
    async write(pieces) {
      sequence ??= (await newest())?.sequence ?? 0;
      const body = Buffer.from(fitting(pieces));
      const about = { after: await versionOf(alertsPath), sequence: sequence + 1 };
      const heading: Heading = { ...about, bytes: body.length, sha256: hash('sha256', body) };
      const content = Buffer.concat([Buffer.from(`${JSON.stringify(heading)}\n`), body]);
      if (content.length > reserveBytes) throw tooLong();
      await writeAt(path, 'r+', content, ((sequence + 1) % halves) * reserveBytes);
      sequence += 1;
    },
  };
}

const tooLong = () => new Error(`more than the ${reserveBytes} bytes that are reserved`);

function fitting(pieces: Iterable<string>): string {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length > reserveBytes) throw tooLong();
  }
  return text;
}

/** The rest of the file stays. */
const writeAt = (path: string, flags: 'w' | 'r+', content: Buffer, position: number): Promise<void> =>
  writeSynced(path, flags, async (file) => {
    for (let done = 0; done < content.length; )
      done += (await file.write(content, done, content.length - done, position + done)).bytesWritten;
  });

function newestOf(content: Buffer): Written | undefined {
  const [first, second] = Array.from({ length: halves }, (_, half) =>
    writtenIn(content.subarray(half * reserveBytes, (half + 1) * reserveBytes)),
  );
  return first && second ? (first.sequence > second.sequence ? first : second) : (first ?? second);
}

/** Undefined: nothing has been written yet, or not to its end. */
function writtenIn(half: Buffer): Written | undefined {
  const headingEnd = half.indexOf('\n');
  const heading = headingOf(half.subarray(0, Math.max(headingEnd, 0)).toString());
  if (!heading) return undefined;
  const body = half.subarray(headingEnd + 1, headingEnd + 1 + heading.bytes);
  return hash('sha256', body) === heading.sha256 ? { ...heading, text: body.toString() } : undefined;
}

function headingOf(line: string): Heading | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/**
 * Another one for each file that takes its place. Not `fileVersion`: a start that closes the file to others changes its
 * ctime, and the reserve stays the newer one.
 */
async function versionOf(path: string): Promise<string> {
  const found = await statOf(path);
  return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : '';
}

const statOf = (path: string) => stat(path, { bigint: true }).catch(absent);
