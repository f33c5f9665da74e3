/** `#function-code` in a clone: a function's code, bundled from the sources when the app is synthesized. */
import { join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct } from 'constructs';
import type { FunctionName } from '../functions/bundling.ts';
import { writeBundle } from '../functions/write-bundle.ts';

/**
 * Bundles in this process, without Docker. The hash is computed from the output, so that the same code is the same
 * release on every machine.
 */
export const functionCode = (scope: Construct, name: FunctionName): Asset =>
  new Asset(scope, 'Code', {
    path: join(import.meta.dirname, '../functions', name),
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('not-used'),
      local: {
        tryBundle(outputFolder) {
          writeBundle(name, outputFolder);
          return true;
        },
      },
    },
  });
