/**
 * Posts to a Slack channel when a target stops being ready, and when it is ready again.
 *
 *     SLACK_URL=… node examples/subscribers/post-to-slack.ts [LABEL_SELECTOR]
 *
 * SLACK_URL is an incoming webhook. The alerts of `npm start -- --config` (docs/alerts.md) do the same and more without
 * a subscriber: at least once, with reminders, groups and silences.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EventDetail } from 'probelet/events';
import { watch } from './watch.ts';

const slack = process.env.SLACK_URL ?? '';
if (!URL.canParse(slack)) {
  console.error('set SLACK_URL to the URL of an incoming webhook');
  process.exit(2);
}

type Change = EventDetail<'Target Status Changed'>;

const attemptsMax = 5;
const [labelSelector] = process.argv.slice(2);
/** The uid of each target that was posted as not ready. */
const down = new Set<string>();

for await (const change of watch('Target Status Changed', labelSelector === undefined ? {} : { labelSelector })) {
  const text = change && textOf(change);
  if (text !== undefined) await post(text).catch((error) => console.error(`not posted: ${text}: ${error}`));
}

/** undefined: nothing to post. Ready=Unknown is no news: the prober does not know. */
function textOf({ target: { namespace, name, uid }, newStatus }: Change): string | undefined {
  const ready = newStatus.conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'False' && !down.has(uid)) {
    down.add(uid);
    return `:red_circle: *${namespace}/${name}* is not ready: ${escaped(ready.message ?? ready.reason ?? '')}`;
  }
  if (ready?.status === 'True' && down.delete(uid)) return `:large_green_circle: *${namespace}/${name}* is ready again`;
  return undefined;
}

/** The three characters that have a meaning in Slack's text. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

async function post(text: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(slack, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    });
    if (response.ok) return console.log(text);
    if (attempt === attemptsMax || (response.status !== 429 && response.status < 500))
      throw new Error(`${response.status} ${await response.text()}`);
    await pause(Number(response.headers.get('retry-after') ?? attempt) * 1_000);
  }
}
