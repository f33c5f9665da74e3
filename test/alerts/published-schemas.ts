/** What each service publishes about the requests that it takes, as JSON Schemas in `schemas`. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

export const formats = ['webhook', 'slack', 'teams', 'discord', 'pagerduty', 'opsgenie', 'alertmanager'] as const;
export type Format = (typeof formats)[number];

/** Bytes of a message that Teams accepts, and of an event that PagerDuty accepts. */
const bodyBytesMax: { readonly [format in Format]?: number } = { teams: 28 * 1024, pagerduty: 512 * 1024 };

const schemas = new Map(
  formats.map((format) => {
    const text = readFileSync(new URL(`./schemas/${format}.json`, import.meta.url), 'utf8');
    return [format, z.fromJSONSchema(JSON.parse(text))] as const;
  }),
);

/** Why the service would not accept this body. */
export function bodyFaults(format: Format, body: string): readonly string[] {
  const parsed = schemas.get(format)?.safeParse(JSON.parse(body));
  const issues = parsed?.error?.issues.map(({ path, message }) => `/${path.join('/')} ${message}`) ?? [];
  const bytes = Buffer.byteLength(body);
  return [...issues, ...(bytes > (bodyBytesMax[format] ?? bytes) ? [`the body has ${bytes} bytes`] : [])];
}
