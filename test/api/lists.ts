/** Reads lists of targets. `query` is what follows `/v1/targets`. */
import type { AnswerBody } from '../support/api-client.ts';
import type { World } from './world.ts';

export const list = async (world: World, query = ''): Promise<AnswerBody> =>
  (await world.expect(200, 'GET', `/v1/targets${query}`)).body;

export const names = ({ items }: AnswerBody) => items.map(({ metadata }) => metadata.name);

/** Page by page, to its end. */
export async function pages(world: World, query: string): Promise<readonly AnswerBody[]> {
  const found: AnswerBody[] = [];
  for (let token: string | undefined = ''; token !== undefined; token = found.at(-1)?.metadata.continue)
    found.push(await list(world, `${query}&continue=${token}`));
  return found;
}
