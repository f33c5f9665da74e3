/**
 * `#function-code` in the npm package: a function's code, which `npm run pack` has bundled, so that an app that uses
 * the construct needs neither esbuild nor TypeScript.
 */
import { join } from 'node:path';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct } from 'constructs';
import type { FunctionName } from '../functions/bundling.ts';

export const functionCode = (scope: Construct, name: FunctionName): Asset =>
  new Asset(scope, 'Code', { path: join(import.meta.dirname, '../lambda', name) });
