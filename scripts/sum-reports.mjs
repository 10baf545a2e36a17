/**
 * Adds up vitest's JSON reports and prints the closing line of CI, `N passed, N failed`.
 * Usage: sum-reports.mjs FAILED_STEPS REPORT...; exits 1 when anything failed or no test ran.
 *
 * A step of tests that failed is counted by its tests; only failures beyond those are added.
 */
import {existsSync, readFileSync} from 'node:fs';

const [failedSteps, ...paths] = process.argv.slice(2);
const reports = paths.filter((path) => existsSync(path)).map((path) => JSON.parse(readFileSync(path, 'utf8')));

const passed = sum(reports.map((report) => report.numPassedTests));
const failedTests = sum(reports.map((report) => report.numFailedTests));
const skipped = sum(reports.map((report) => report.numPendingTests));
const stepsWithFailedTests = reports.filter((report) => report.numFailedTests > 0).length;
const failed = failedTests + Math.max(0, Number(failedSteps) - stepsWithFailedTests);

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
