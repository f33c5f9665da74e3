/**
 * The app of `cdk.json`: one stack with one probelet. Its plain props are the context value `probelet`, in `cdk.json`
 * or on the command line (`-c probelet='{"memorySize":512}'`). Props that are constructs, such as a VPC, need a
 * separate app.
 */
import { App } from 'aws-cdk-lib';
import { nearest } from '../shared/lib/nearest.ts';
import { ProbeletStack } from './probelet-stack.ts';
import type { ProbeletProps } from './props.ts';
import { WrongProps } from './validate-props.ts';

const contextKey = 'probelet';

const app = new App();

try {
  requireKnownContext(Object.keys(app.node.getAllContext()));
  new ProbeletStack(app, 'Probelet', plainProps(app.node.tryGetContext(contextKey) ?? {}));
} catch (error) {
  if (!(error instanceof WrongProps)) throw error;
  // A stack trace would hide the message.
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

/** Other keys are flags of the CDK or belong to other apps in the user's `~/.cdk.json`. @throws WrongProps */
function requireKnownContext(keys: readonly string[]): void {
  const slip = keys.find((key) => key !== contextKey && nearest(key, [contextKey]) !== undefined);
  if (slip !== undefined) throw new WrongProps(`context ${slip}: there is no such key (did you mean ${contextKey}?)`);
}

/** Checks only that the value is an object; the construct validates the props. @throws WrongProps */
function plainProps(value: unknown): ProbeletProps {
  const parsed = typeof value === 'string' ? parsedJson(value) : value;
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  throw new WrongProps(
    `context ${contextKey}: is ${JSON.stringify(value)}; allowed: an object of props, as in -c ${contextKey}='{"memorySize": 512}'`,
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
