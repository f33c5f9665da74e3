/** The real programs that commands name. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './real-command.ts';

const folders = ['/usr/bin', '/bin', '/usr/local/bin'];

export const pathOf = (file: string): string | undefined =>
  folders.map((folder) => join(folder, file)).find((path) => existsSync(path));

const files: Programs = { curl: 'curl', wget: 'wget', 'busybox wget': 'busybox', nc: 'nc', ncat: 'ncat' };

/** @throws if one is missing, with the command that installs them on Debian */
export function requiredPrograms(): Programs {
  const missing = Object.values(files).filter((file) => pathOf(file) === undefined);
  if (missing.length > 0)
    throw new Error(
      `missing ${missing.join(', ')}: apt-get install -y --no-install-recommends curl wget busybox netcat-openbsd ncat`,
    );
  const found = Object.entries(files).map(([tool, file]) => [tool, pathOf(file) ?? file]);
  return { ...Object.fromEntries(found), grpc_health_probe: grpcHealthProbe() };
}

const version = 'v0.4.40';

/** Built by Go, and kept. */
function grpcHealthProbe(): string {
  const folder = join(import.meta.dirname, '../../node_modules/.cache/grpc-health-probe', version);
  const path = join(folder, 'grpc-health-probe');
  if (!existsSync(path))
    execFileSync('go', ['install', `github.com/grpc-ecosystem/grpc-health-probe@${version}`], {
      env: { ...process.env, GOBIN: folder },
      stdio: 'inherit',
    });
  return path;
}
