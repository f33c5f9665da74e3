/** `#function-code` in a clone: the code of functions and tasks, bundled from the sources at synth. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssetHashType, DockerImage, Stack } from 'aws-cdk-lib';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import type { Construct } from 'constructs';
import type { FunctionName } from '../functions/bundling.ts';
import { writeBundle, writeDockerfile } from '../functions/write-bundle.ts';

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

/** The image of the prober's task, with the hash of bundle and Dockerfile. Docker builds it at deployment. */
export function proberImage(scope: Construct): DockerImageAsset {
  const directory = mkdtempSync(join(tmpdir(), 'probelet-image-'));
  try {
    writeDockerfile(directory);
    if (Stack.of(scope).bundlingRequired) writeBundle('task', directory);
    return new DockerImageAsset(scope, 'Image', { directory, platform: Platform.LINUX_ARM64 });
  } finally {
    // The asset is a copy.
    rmSync(directory, { recursive: true });
  }
}
