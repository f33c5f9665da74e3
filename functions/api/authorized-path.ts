/**
 * IAM has decided by the path of the request, API Gateway by its route. What is served must be both, and API Gateway may hand a path on
 * as it came or decoded. Names of targets need no character that can be encoded, so a path with any other is refused.
 */

/** What API Gateway says of a request, as it names it. What is absent cannot contradict. */
type RoutedRequest = {
  readonly rawPath: string;
  readonly method: string;
  readonly contextPath?: string | undefined;
  readonly routeKey?: string | undefined;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | null | undefined;
};

const anyRoute = '$default';
const plain = /^[\w.-]+$/;

/** Why the path is not surely the one that was authorized. */
export function pathFault(request: RoutedRequest): string | undefined {
  const { rawPath, method, contextPath = rawPath, routeKey = anyRoute, pathParameters } = request;
  const segments = rawPath.slice(1).split('/');
  if (rawPath !== '/' && !segments.every(isPlain))
    return 'The path may have letters, digits, and -._ between slashes only.';
  if (contextPath !== rawPath) return 'The path is not the one that was authorized.';
  if (routeKey === anyRoute) return undefined;
  const [routeMethod, template = ''] = routeKey.split(' ');
  if (routeMethod !== method && routeMethod !== 'ANY') return 'The method is not that of the route.';
  const isOfRoute = template.startsWith('/') && isMatch(template.slice(1).split('/'), segments, pathParameters ?? {});
  return isOfRoute ? undefined : 'The path is not that of the route.';
}

/** Dots alone would lead elsewhere. */
const isPlain = (segment: string): boolean => plain.test(segment) && segment !== '.' && segment !== '..';

/** `{name}` stands for one segment, `{name+}` for all that are left. */
function isMatch(
  template: readonly string[],
  segments: readonly string[],
  parameters: NonNullable<RoutedRequest['pathParameters']>,
): boolean {
  const last = template.at(-1) ?? '';
  const isGreedy = last.startsWith('{') && last.endsWith('+}');
  if (isGreedy ? segments.length < template.length : segments.length !== template.length) return false;
  return template.every((part, index) => {
    const segment = isGreedy && part === last ? segments.slice(index).join('/') : segments[index];
    if (!part.startsWith('{')) return part === segment;
    const name = part.slice(1, part.endsWith('+}') ? -2 : -1);
    return !Object.hasOwn(parameters, name) || parameters[name] === segment;
  });
}
