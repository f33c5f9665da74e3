/** Stands in for a target group of an Elastic Load Balancer: the two actions of its query protocol. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenWith, type RunningServer } from '../support/tcp-server.ts';

export const targetGroupArn =
  'arn:aws:elasticloadbalancing:eu-central-1:111122223333:targetgroup/shop/0123456789abcdef';

export type TargetGroup = RunningServer & {
  /** Each accepted call: the action, and the addresses. */
  readonly calls: readonly (readonly string[])[];
};

const isSigned = (authorization: string | undefined): boolean =>
  /^AWS4-HMAC-SHA256 Credential=.+\/eu-central-1\/elasticloadbalancing\/aws4_request,/.test(authorization ?? '');

const notFound = `<ErrorResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/">
  <Error><Type>Sender</Type><Code>TargetGroupNotFound</Code><Message>no such group</Message></Error>
  <RequestId>1</RequestId>
</ErrorResponse>`;

const done = (action: string) => `<${action}Response xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/">
  <${action}Result/>
  <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>
</${action}Response>`;

export async function startTargetGroup(): Promise<TargetGroup> {
  const calls: string[][] = [];
  const server = createServer(async (request, response) => {
    const fields = new URLSearchParams(await text(request));
    const action = fields.get('Action') ?? '';
    const isKnown =
      isSigned(request.headers.authorization) &&
      fields.get('TargetGroupArn') === targetGroupArn &&
      ['RegisterTargets', 'DeregisterTargets'].includes(action);
    const addresses = [...fields].filter(([name]) => /^Targets\.member\.\d+\.Id$/.test(name)).map(([, value]) => value);
    if (isKnown) calls.push([action, ...addresses.sort()]);
    response.writeHead(isKnown ? 200 : 400, { 'content-type': 'text/xml' }).end(isKnown ? done(action) : notFound);
  });
  return { ...(await listenWith(server, '127.0.0.1')), calls };
}
