/** Finds the API of a deployment among the outputs of its CloudFormation stack. */
import { request } from 'undici';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { isRegion, regionOfHost } from '../../client/aws-region.ts';
import { expiredCodes, expiredCredentials } from '../../client/aws-signer.ts';
import { boundedText, connectionsTo } from '../../client/connections.ts';
import type { Io } from '../io.ts';
import { CliError, exitCodes, WrongUse } from '../words/exit-codes.ts';
import { type AwsAccess, regionOf, signerOf } from './aws-access.ts';

export type StackApi = { readonly url: string; readonly region: string };

/** As `ProbeletStack` names it. */
const outputName = 'ApiUrl';
/** As the CDK names that of the construct in a stack of the user's own: with the construct's path, and a hash of it. */
const constructOutput = /ApiUrl[0-9A-F]{8}$/;
const timeoutMs = 20_000;
/** CloudFormation answers with at most 200 outputs of 1 KB, beside parameters and tags. */
const answerBytesMax = 4 * 1024 * 1024;
const apiVersion = '2010-05-15';

/** A name, or an ARN. */
const stackPattern = /^(?:[A-Za-z][A-Za-z0-9-]{0,127}|arn:aws[\w-]*:cloudformation:[\w:/-]{1,500})$/;

/** @throws CliError, ClientError */
export async function stackApi(stack: string, access: AwsAccess, io: Io): Promise<StackApi> {
  if (!stackPattern.test(stack)) throw new WrongUse(`--stack: ${stack} is no name of a stack, nor its ARN`);
  const region = await regionOf(access);
  if (!isRegion(region)) throw new WrongUse(`${region} is no region of AWS`);
  const { status, text } = await describeStack(stack, access, region, io);
  if (status !== 200) throw refusalError(text, status, stack, region);
  const outputs = outputsOf(text);
  const url = apiOf(outputs);
  if (url !== undefined) return { url, region: regionOfHost(new URL(url)) ?? region };
  const names = [...outputs.keys()].join(', ');
  throw new CliError(
    `stack ${stack} has no output ${outputName} (${names === '' ? 'it has none' : `but ${names}`}): add it to the app, or name the address by --url and --auth aws`,
    exitCodes.notFound,
  );
}

async function describeStack(stack: string, access: AwsAccess, region: string, io: Io) {
  const url = endpointOf(region, io.env);
  const signer = await signerOf(io, access, region, timeoutMs, 'cloudformation');
  const body = new URLSearchParams({ Action: 'DescribeStacks', Version: apiVersion, StackName: stack }).toString();
  const headers = await signer.sign({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
  const connections = connectionsTo({ url, timeoutMs, env: io.env });
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, { dispatcher: connections, method: 'POST', headers, body, signal });
    return { status: answer.statusCode, text: (await boundedText(answer.body, answerBytesMax)) ?? '' };
  } catch (error) {
    const next = `is ${region} the region? Is there a proxy to name by HTTPS_PROXY?`;
    throw new CliError(`cannot reach CloudFormation at ${url.host} (${codeOf(error)}): ${next}`);
  } finally {
    await connections.destroy();
  }
}

/** Partitions other than AWS's own and China's are named by the environment. */
function endpointOf(region: string, env: Io['env']): URL {
  const given = [env.AWS_ENDPOINT_URL_CLOUDFORMATION, env.AWS_ENDPOINT_URL].find((each) => (each ?? '') !== '');
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = URL.parse(given ?? `https://cloudformation.${region}.${suffix}/`);
  if (url) return url;
  throw new WrongUse(`AWS_ENDPOINT_URL: ${given} is not a URL`);
}

function refusalError(text: string, status: number, stack: string, region: string): CliError {
  const code = between(text, '<Code>', '</Code>') ?? '';
  const line = (what: string, exitCode = exitCodes.failed) => new CliError(what, exitCode);
  if (expiredCodes.includes(code)) return line(expiredCredentials);
  switch (code) {
    case 'ValidationError':
      // The name was checked before, so the stack is what is not valid.
      return new CliError(
        `there is no stack ${stack} in region ${region}: name another, or its --region and --profile`,
        exitCodes.notFound,
      );
    case 'AccessDenied':
    case 'AccessDeniedException':
      return line(`the caller may not ask for stack ${stack}: allow cloudformation:DescribeStacks, or give --url`);
    default:
      return line(
        `CloudFormation refuses the AWS credentials (${status}${code === '' ? '' : ` ${code}`}): choose others by --profile, and check the clock`,
      );
  }
}

/** The outputs of the one stack in the answer. They contain no other elements with these names. */
function outputsOf(text: string): ReadonlyMap<string, string> {
  const members = (between(text, '<Outputs>', '</Outputs>') ?? '').split('</member>');
  return new Map(
    members.flatMap((member) => {
      const key = between(member, '<OutputKey>', '</OutputKey>');
      const value = between(member, '<OutputValue>', '</OutputValue>');
      return key === undefined || value === undefined ? [] : [[unescaped(key), unescaped(value)] as const];
    }),
  );
}

/**
 * The output named after the construct, which is the only one in an app of the user's own; else the only API address.
 */
function apiOf(outputs: ReadonlyMap<string, string>): string | undefined {
  const isApi = (text: string) => regionOfHost(new URL(text)) !== undefined;
  const values = [...outputs.values()];
  const onlyOne = (found: readonly string[]) => (found.length === 1 ? found[0] : undefined);
  const ofConstructs = [...outputs].flatMap(([name, value]) => (constructOutput.test(name) ? [value] : []));
  const url =
    outputs.get(outputName) ??
    onlyOne(ofConstructs) ??
    onlyOne(values.filter((value) => URL.canParse(value) && isApi(value)));
  return url !== undefined && URL.canParse(url) ? url.replace(/\/$/, '') : undefined;
}

function between(text: string, begin: string, end: string): string | undefined {
  const at = text.indexOf(begin);
  const to = text.indexOf(end, at);
  return at < 0 || to < 0 ? undefined : text.slice(at + begin.length, to);
}

const entities: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
];

const unescaped = (text: string): string =>
  entities.reduce((so, [entity, character]) => so.replaceAll(entity, character), text);
