/** Parses YAML that clients send: a short text at once, others in a thread of their own, one after the other. */
import { extname } from 'node:path';
import type { ParseYaml } from '../../../shared/api/http/body.ts';
import type { ParsedDocuments } from '../../../shared/api/http/json.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { Room } from '../server/room.ts';
import { AskedThread } from './asked-thread.ts';

export type YamlParser = { readonly parse: ParseYaml; close(): Promise<void> };

/** Takes a few milliseconds whatever it is, which is less than to start the thread. */
const shortMax = 1_024;
/** The costliest text of the largest size takes a second on a slow machine. */
const parseMsMax = 10_000;
/** The costliest text needs less than 40. */
const heapMbMax = 64;
/** The thread keeps what a costly text took; it ends once it has not been used for so long. */
const idleMsMax = 2_000;

/** This module and the thread's end alike: in `.ts` in a clone, in `.js` in the npm package. */
const url = new URL(`./yaml-thread${extname(import.meta.filename)}`, import.meta.url);

export function yamlParser(clock: Clock): YamlParser {
  const thread = new AskedThread<string, ParsedDocuments>({ url, heapMbMax, msMax: parseMsMax, clock });
  const closed = new AbortController();
  const room = new Room<object>(1);
  let last: Promise<ParsedDocuments> | undefined;
  let cancelEnd = () => {};
  const parseNow = async (text: string): Promise<ParsedDocuments> => {
    cancelEnd();
    const answer = await thread.ask(text, closed.signal);
    cancelEnd = clock.setTimer(idleMsMax, () => void thread.end());
    return answer.kind === 'none' ? { kind: 'malformed', reason: `the body ${answer.detail}` } : answer;
  };
  return {
    async parse(text, signal) {
      if (text.length <= shortMax) return (await import('../../../shared/api/http/yaml.ts')).parseYaml(text);
      const place = {};
      if (!(await room.enter(place, signal))) return { kind: 'malformed', reason: 'the client has gone' };
      last = parseNow(text);
      const parsed = await last;
      room.leave(place);
      if (!room.admitNext()) last = undefined;
      return parsed;
    },
    async close() {
      closed.abort();
      while (last !== undefined) await last;
      cancelEnd();
      await thread.end();
    },
  };
}
