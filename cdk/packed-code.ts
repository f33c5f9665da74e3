/**
 * `#function-code` in the npm package: the code of functions and tasks, which `npm run pack` has bundled, so that an
 * app that uses the construct needs neither esbuild nor TypeScript.
 */
import { join } from 'node:path';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct } from 'constructs';
import type { BundleName, FunctionName } from '../functions/bundling.ts';

const folderOf = (name: BundleName): string => join(import.meta.dirname, '../lambda', name);

export const functionCode = (scope: Construct, name: FunctionName): Asset =>
  new Asset(scope, 'Code', { path: folderOf(name) });

/** The image of the prober's task. Docker builds it at deployment. */
export const proberImage = (scope: Construct): DockerImageAsset =>
  new DockerImageAsset(scope, 'Image', { directory: folderOf('task'), platform: Platform.LINUX_ARM64 });
