/**
 * Names that have to differ between all deployments of an account and region, and that CDK derives from the construct's
 * path alone.
 */
import { createHash } from 'node:crypto';
import { Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

const digits = 8;

/**
 * Eight hex digits of the stack's name and of the place of `scope` in it. The same app deployed under another stack
 * name has others; a nested stack, whose name is known only to CloudFormation, has those of its path.
 */
export function deploymentSuffix(scope: Construct): string {
  const { stackName, node } = Stack.of(scope);
  const name = Token.isUnresolved(stackName) ? node.path : stackName;
  return createHash('sha256').update(`${name}/${scope.node.path}`).digest('hex').slice(0, digits);
}
