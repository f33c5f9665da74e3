/** `npm run promtool`: Prometheus' tool checks the alerting rules of examples/prometheus and runs their unit tests. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../examples/prometheus');
const howToInstall = 'no promtool found; on Debian: apt-get install -y --no-install-recommends prometheus';

const steps = [
  ['check', 'rules', 'rules.yaml'],
  ['test', 'rules', 'rules.test.yaml'],
] as const;

for (const args of steps) {
  const { error, status } = spawnSync('promtool', args, { cwd: folder, stdio: 'inherit' });
  if (error) process.stderr.write(`${'code' in error && error.code === 'ENOENT' ? howToInstall : error.message}\n`);
  if (status !== 0) process.exit(1);
}
