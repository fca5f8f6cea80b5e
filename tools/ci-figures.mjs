// Prints the tests that passed at the second try only, and as the last line `N passed, N failed`, from
// the JSON report of the tests.
import { readFileSync } from 'node:fs';

function figures(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    // A file that cannot be loaded fails without failing a test.
    const broken = report.testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
    ).length;
    const failed = report.numFailedTests + broken;
    return {
      passed: report.numPassedTests,
      failed: report.success || failed > 0 ? failed : 1,
      wobbly: report.testResults.flatMap(({ assertionResults }) =>
        assertionResults.filter(isWobbly),
      ),
    };
  } catch {
    return { passed: 0, failed: 1, wobbly: [] };
  }
}

/** Passed, but not at once: its failures are still there. */
function isWobbly({ status, failureMessages }) {
  return status === 'passed' && failureMessages.length > 0;
}

const { passed, failed, wobbly } = figures(process.argv[2] ?? '');
for (const { fullName, failureMessages } of wobbly) {
  const [first] = failureMessages[0].split('\n', 1);
  process.stdout.write(`passed at the second try only: ${fullName}: ${first}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
