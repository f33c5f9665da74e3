import assert from 'node:assert/strict';

type Operation = { readonly responses: { readonly [status: string]: { readonly content: object } } };
export type OpenApi = { readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } } };

/** Fails unless the document says that this operation can answer so. */
export function assertDocumented(document: OpenApi, request: Request, response: Response): void {
  const { pathname } = new URL(request.url);
  const path = Object.keys(document.paths).find((each) => pathPattern(each).test(pathname));
  const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
  const operation = path === undefined ? undefined : document.paths[path]?.[method];
  if (!operation) {
    assert.ok([404, 405].includes(response.status), `${request.method} ${pathname} is not documented`);
    return;
  }
  const documented = operation.responses[response.status];
  assert.ok(documented, `${request.method} ${path} answered ${response.status}, which is not documented`);
  const [mediaType = ''] = (response.headers.get('content-type') ?? '').split(';');
  assert.ok(
    Object.keys(documented.content).includes(mediaType),
    `${path} ${response.status} as ${mediaType} is not documented`,
  );
}

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]*')}$`);
