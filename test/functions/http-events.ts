/** Events of an HTTP API, as API Gateway writes them in payload format 2.0. */

type Options = {
  readonly body?: unknown;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorizer?: object;
};

export function httpEvent(method: string, path: string, { body, query = '', headers = {}, authorizer }: Options = {}) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: { host: 'api.example.com', ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
    requestContext: {
      accountId: '000000000000',
      apiId: 'api',
      domainName: 'api.example.com',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
      requestId: 'r',
      routeKey: '$default',
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 1_767_225_600_000,
      ...(authorizer && { authorizer }),
    },
    ...(text !== undefined && { body: text }),
    isBase64Encoded: false,
  };
}
