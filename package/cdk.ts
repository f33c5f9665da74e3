/** `probelet/cdk`: the construct, for an app of the AWS CDK. */
export { Probelet, type UpdateRule } from '../cdk/probelet.ts';
export type { ProbeletProps } from '../cdk/props.ts';
