/**
 * IAM authorizes the path of a request, and API Gateway selects its route. The served path must match both, but API
 * Gateway may pass a path on either encoded or decoded. Names of targets contain no character that needs encoding, so a
 * path with any other character but a colon, which the routes themselves have, is rejected.
 */

/** API Gateway's description of a request. An absent property is not checked. */
type RoutedRequest = {
  readonly rawPath: string;
  readonly method: string;
  readonly contextPath?: string | undefined;
  readonly routeKey?: string | undefined;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | null | undefined;
};

const anyRoute = '$default';
const plain = /^[\w.:-]+$/;

/** Returns the reason why the path may differ from the authorized one, or undefined. */
export function pathFault(request: RoutedRequest): string | undefined {
  const { rawPath, method, contextPath = rawPath, routeKey = anyRoute, pathParameters } = request;
  const segments = rawPath.slice(1).split('/');
  if (rawPath !== '/' && !segments.every(isPlain))
    return 'The path may have letters, digits, and -._: between slashes only.';
  if (contextPath !== rawPath) return 'The path is not the one that was authorized.';
  if (routeKey === anyRoute) return undefined;
  const [routeMethod, template = ''] = routeKey.split(' ');
  if (routeMethod !== method && routeMethod !== 'ANY') return 'The method is not that of the route.';
  const isOfRoute = template.startsWith('/') && isMatch(template.slice(1).split('/'), segments, pathParameters ?? {});
  return isOfRoute ? undefined : 'The path is not that of the route.';
}

/** A segment of dots alone would refer to another path. */
const isPlain = (segment: string): boolean => plain.test(segment) && segment !== '.' && segment !== '..';

/** `{name}` matches one segment, `{name+}` all remaining ones. */
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
