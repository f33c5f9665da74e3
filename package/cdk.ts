/** `probelet/cdk`: the construct, for an app of the AWS CDK. */
export type { Alert, AlertCause, AlertProps } from '../cdk/alert.ts';
export { Probelet, type UpdateRule } from '../cdk/probelet.ts';
export { ProbeletStack } from '../cdk/probelet-stack.ts';
export type { ProbeletProps } from '../cdk/props.ts';
