/**
 * `npm run promtool`: Prometheus' tool checks the alerting rules of examples/prometheus, runs their unit tests, and
 * checks the text of `/metrics`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { scrapedWorld } from './scraped-world.ts';

const folder = join(import.meta.dirname, '../../examples/prometheus');
const howToInstall = 'no promtool found; on Debian: apt-get install -y --no-install-recommends prometheus';

function run(args: readonly string[], input = ''): void {
  const { error, status } = spawnSync('promtool', args, { cwd: folder, input, stdio: ['pipe', 'inherit', 'inherit'] });
  if (error) process.stderr.write(`${'code' in error && error.code === 'ENOENT' ? howToInstall : error.message}\n`);
  if (status !== 0) process.exit(1);
}

run(['check', 'rules', 'rules.yaml']);
run(['test', 'rules', 'rules.test.yaml']);
for (const targetMetrics of [true, false]) run(['check', 'metrics'], await scrapedWorld(targetMetrics));
