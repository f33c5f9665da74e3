/** A server whose answers have hostile texts in each field that the OpenAPI document gives them. */
import { apiWorld } from '../api/world.ts';
import { hostileOf, hostileText, type Schema } from './hostile-text.ts';

type Operation = {
  readonly responses: {
    readonly [status: string]: { readonly content: { readonly [type: string]: { readonly schema: Schema } } };
  };
};
type Document = {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas?: Schema['$defs'] };
};

export type Asked = { readonly method: string; readonly path: string; readonly body: string };
export type Answer = { readonly status: number; readonly type: string; readonly text: string };

export async function hostileAnswers(): Promise<(asked: Asked) => Answer> {
  const { paths, components } = (await apiWorld().ask<Document>('GET', '/openapi.json')).body;
  return ({ method, path, body }) => {
    const found = Object.keys(paths).find((each) => patternOf(each).test(path)) ?? '';
    const responses = Object.entries(paths[found]?.[method.toLowerCase()]?.responses ?? {});
    const [status, response] = responses.find(([each]) => Number(each) < 300) ?? ['404', { content: {} }];
    const [type = 'application/problem+json', { schema } = { schema: {} }] = Object.entries(response.content)[0] ?? [];
    const value = understood(path, hostileOf(schema, components.schemas));
    return {
      status: Number(status),
      type,
      text: type.endsWith('ndjson') ? linesOf(value, body) : JSON.stringify(value),
    };
  };
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

/** What a client needs to go on: the title of the API, the end of a list, and the reason of an event. */
function understood(path: string, value: unknown): unknown {
  if (path === '/openapi.json') return { info: { title: 'probelet', version: hostileText } };
  const ending = JSON.parse(JSON.stringify(value, (key, each) => (key === 'continue' ? undefined : each)));
  if (!path.endsWith('/events')) return ending;
  return { items: ending.items.flatMap((event: object) => [event, { ...event, reason: 'Probed' }]) };
}

/** One for each line that was sent. */
const linesOf = (value: unknown, body: string): string =>
  body
    .split('\n')
    .slice(0, -1)
    .map((_, index) => `${JSON.stringify({ ...(value as object), line: index + 1 })}\n`)
    .join('');
