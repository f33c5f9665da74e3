/**
 * The app of `cdk.json`: one stack with one probelet, whose plain props are the context value `probelet`, in `cdk.json` or on the command
 * line (`-c probelet='{"memorySize":512}'`). Props that are constructs, like a VPC, want an app of one's own.
 */
import { App } from 'aws-cdk-lib';
import { ProbeletStack } from './probelet-stack.ts';
import type { ProbeletProps } from './props.ts';

const app = new App();
const given: unknown = app.node.tryGetContext('probelet') ?? {};

new ProbeletStack(app, 'Probelet', plainProps(given));

/** What is in it is the construct's to check. */
function plainProps(value: unknown): ProbeletProps {
  const parsed = typeof value === 'string' ? parsedJson(value) : value;
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new RangeError(`context probelet: is ${JSON.stringify(value)}; allowed: an object of props`);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
