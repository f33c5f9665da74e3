/** `npm run conformance -- <folder>`: runs every vector file of the folder against the product and counts. */
import { type FileReport, runFolder } from './run.ts';

const shownFailuresMax = 20;

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: npm run conformance -- <folder of *.jsonl or *.jsonl.gz>');
  process.exit(2);
}

const reports = await runFolder(folder, (report) => {
  console.log(`${report.file}  ${summary(report)}`);
  for (const failure of report.failures.slice(0, shownFailuresMax)) {
    console.log(`  ${failure.vector}\n${failure.difference.replace(/^/gm, '    ')}`);
  }
});
const sum = (count: (report: FileReport) => number) => reports.reduce((total, report) => total + count(report), 0);
const passed = sum((report) => report.passed);
const failed = sum((report) => report.failures.length);
const differing = sum((report) => report.byRules.length);
const notRun = sum((report) => report.notRun);
if (passed + differing + failed + notRun === 0) console.error(`no vectors in ${folder}`);
console.log(`${passed} passed, ${differing} differ by a numbered rule, ${failed} failed, ${notRun} not run`);
// What was not run is not shown, so it does not end in success.
process.exit(failed > 0 || notRun > 0 || passed === 0 ? 1 : 0);

function summary({ entries, passed, byRules, failures, notRun }: FileReport): string {
  if (notRun > 0) return `${notRun} NOT RUN: no runner for this file name`;
  const differing =
    byRules.length === 0 ? '' : `${byRules.length} differ by a rule of docs/semantics.md (${counts(byRules)}), `;
  return `${passed} passed, ${differing}${failures.length} failed; by ${entries.join(', ')}`;
}

/** `11 × 3`: difference 11 explains three of them, perhaps together with another. */
function counts(byRules: FileReport['byRules']): string {
  const numbers = [...new Set(byRules.flat())].sort((a, b) => a - b);
  return numbers.map((number) => `${number} × ${byRules.filter((rules) => rules.includes(number)).length}`).join(', ');
}
