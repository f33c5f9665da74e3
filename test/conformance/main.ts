/** `npm run conformance -- <folder>`: runs every vector file of the folder against the engine and counts. */
import { runFolder } from './run.ts';

const shownFailuresMax = 20;

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: npm run conformance -- <folder of *.jsonl or *.jsonl.gz>');
  process.exit(2);
}

const reports = await runFolder(folder, (report) => {
  console.log(`${report.file}  ${report.passed} passed, ${report.failures.length} failed`);
  for (const failure of report.failures.slice(0, shownFailuresMax)) {
    console.log(`  ${failure.vector}\n${failure.difference.replace(/^/gm, '    ')}`);
  }
});
const passed = reports.reduce((sum, report) => sum + report.passed, 0);
const failed = reports.reduce((sum, report) => sum + report.failures.length, 0);
if (passed + failed === 0) console.error(`no vectors in ${folder}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
