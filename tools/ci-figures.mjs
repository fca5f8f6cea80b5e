// Prints `N passed, N failed` from the JSON report of the tests.
import { readFileSync } from 'node:fs';

function figures(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    // A file that cannot be loaded fails without failing a test.
    const broken = report.testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    ).length;
    const failed = report.numFailedTests + broken;
    return { passed: report.numPassedTests, failed: report.success || failed > 0 ? failed : 1 };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

const { passed, failed } = figures(process.argv[2] ?? '');
process.stdout.write(`${passed} passed, ${failed} failed\n`);
