/** The routes that the OpenAPI document of a world describes, each of the target `checkout`. */
import type { World } from './world.ts';

type Described = { readonly parameters?: readonly { readonly in: string; readonly name: string }[] };
type Document = { readonly paths: { readonly [path: string]: { readonly [method: string]: Described } } };

export type Route = { readonly method: string; readonly path: string; readonly parameters: readonly string[] };

/** What only one process has. */
export const ofOneProcess = {
  metrics: () => new Response('up 1\n', { headers: { 'content-type': 'text/plain; version=0.0.4' } }),
  watch: () => () => undefined,
};

/** Each with the names of its query parameters. */
export async function documentedRoutes(world: World, headers = {}): Promise<readonly Route[]> {
  const { paths } = (await world.ask<Document>('GET', '/openapi.json', undefined, headers)).body;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path: path.replace('{namespace}', 'default').replace('{name}', 'checkout'),
      parameters: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
    })),
  );
}
